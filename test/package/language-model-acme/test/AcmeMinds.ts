/** Acme Minds on this machine: it gives scripted answers, and knows nothing about the plugin. */
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"

interface Answer {
  readonly pieces: ReadonlyArray<object>
  /** The answer never ends. */
  readonly hangs?: boolean
}

export class AcmeMinds {
  readonly key = "key-of-acme-minds"
  readonly #answers: Array<Answer> = []
  readonly #server: Server
  #givenUp = Promise.withResolvers<void>()

  static async start(): Promise<AcmeMinds> {
    const minds = new AcmeMinds()
    minds.#server.listen(0, "127.0.0.1")
    await once(minds.#server, "listening")
    return minds
  }

  private constructor() {
    this.#server = createServer(async (request, response) => {
      for await (const _ of request);
      if (request.headers.authorization !== `Bearer ${this.key}`) return void response.writeHead(401).end()
      const { hangs = false, pieces } = this.#answers.shift() ?? { pieces: [{ end: "stop" }] }
      response.on("close", () => {
        if (!response.writableFinished) this.#givenUp.resolve()
      })
      for (const piece of pieces) response.write(`${JSON.stringify(piece)}\n`)
      if (!hangs) response.end()
    })
  }

  get url(): string {
    // The cast holds because it listens on a port.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Sets the next answer. */
  script(answer: Answer): void {
    this.#answers.push(answer)
  }

  /** Resolves when a request was abandoned before its answer was complete. */
  givenUp(): Promise<void> {
    return this.#givenUp.promise
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }
}
