/** The applications that were created through Vonage's Application API. A private key is never shown: Vonage has only the public one. */
import { createPublicKey, randomUUID } from "node:crypto"
import { nonceOf } from "./tokens.ts"

interface Application {
  readonly id: string
  readonly name: string
  readonly keys: { readonly public_key: string }
  readonly capabilities: { readonly voice: { readonly signed_callbacks: boolean; readonly webhooks: unknown } }
}

export class VonageApplications {
  readonly all: Array<Application> = []

  create(body: string): Application {
    const application = { id: randomUUID(), ...(JSON.parse(body) as Omit<Application, "id">) } // Tests check the members.
    this.all.push(application)
    return application
  }
  find(id: string | undefined): Application | undefined {
    return this.all.find((one) => one.id === id)
  }
  page(query: URLSearchParams): object {
    const [size, number] = [Number(query.get("page_size") ?? 10), Number(query.get("page") ?? 1)]
    const applications = this.all.slice((number - 1) * size, number * size)
    const total_pages = Math.ceil(this.all.length / size)
    return { page: number, page_size: size, total_items: this.all.length, total_pages, _embedded: { applications } }
  }
  /** The id of a token that one of the applications has signed. */
  async nonceOf(authorization: string): Promise<string | undefined> {
    const nonces = await Promise.all(this.all.map(({ id, keys }) => nonceOf(authorization, createPublicKey(keys.public_key), id)))
    return nonces.find((nonce) => nonce !== undefined)
  }
}
