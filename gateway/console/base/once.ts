/** Requests that must not happen twice, such as a call: one that is repeated because its answer was lost gets the answer of the first. */
import { useRef } from "preact/hooks"
import { ask, Refused } from "./api.ts"

const randomKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")

/** Whether the engine may have done it, or may be about to. */
const isInDoubt = (cause: unknown): boolean =>
  cause instanceof Refused && (cause.status === 0 || cause.status === 409 || cause.status >= 500)

class Once {
  #key = ""
  #request = ""

  /** Like `ask`, of a route that takes an `Idempotency-Key`. */
  async post<A>(path: string, body: object): Promise<A> {
    const request = `${path} ${JSON.stringify(body)}`
    if (request !== this.#request) this.#key = randomKey()
    this.#request = request
    try {
      const answer = await ask<A>("POST", path, body, { "idempotency-key": this.#key })
      this.#request = ""
      return answer
    } catch (cause) {
      if (!isInDoubt(cause)) this.#request = ""
      throw cause
    }
  }
}

export const useOnce = (): Pick<Once, "post"> => useRef(new Once()).current
