/** Acme Voices on this machine: each voice is a tone, which lasts as long as the text would. It knows nothing about the plugin. */
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

const rate = 24_000
const secondsPerCharacter = 0.06
/** An odd number of bytes, so that samples are cut in two. */
const partBytes = rate / 5 + 1

/** Frequencies in hertz. */
export const tones = { low: 600, high: 1500 } as const

const speechOf = (text: string, hertz: number): Buffer => {
  const bytes = Buffer.alloc(2 * Math.round(text.length * secondsPerCharacter * rate))
  for (let at = 0; at < bytes.length / 2; at++) bytes.writeInt16LE(Math.round(9000 * Math.sin((2 * Math.PI * hertz * at) / rate)), at * 2)
  return bytes
}

export class AcmeVoices {
  readonly key = "key-of-acme-voices"
  /** The texts of all requests, in order. */
  readonly asked: Array<string> = []
  readonly #endings: Array<"hangs" | "breaks"> = []
  readonly #server: Server
  readonly #givenUp = Promise.withResolvers<void>()

  static async start(): Promise<AcmeVoices> {
    const voices = new AcmeVoices()
    voices.#server.listen(0, "127.0.0.1")
    await once(voices.#server, "listening")
    return voices
  }

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  get url(): string {
    // The cast holds because it listens on a port.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Makes the next text fail after a part of it: nothing more comes (`hangs`), or the connection breaks (`breaks`). */
  script(ending: "hangs" | "breaks"): void {
    this.#endings.push(ending)
  }

  /** Resolves when a request was abandoned before all of the speech was sent. */
  givenUp(): Promise<void> {
    return this.#givenUp.promise
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += chunk
    if (request.headers.authorization !== `Bearer ${this.key}`) return void response.writeHead(401).end()
    // The cast holds for what the plugin sends.
    const { text, voice } = JSON.parse(body) as { readonly text: string; readonly voice: keyof typeof tones }
    this.asked.push(text)
    response.on("close", () => {
      if (!response.writableFinished) this.#givenUp.resolve()
    })
    const ending = this.#endings.shift()
    const speech = speechOf(text, tones[voice])
    if (ending === "hangs") return void response.write(speech.subarray(0, 4 * partBytes))
    if (ending === "breaks") return void response.write(speech.subarray(0, 4 * partBytes), () => response.destroy())
    for (let at = 0; at < speech.length; at += partBytes) response.write(speech.subarray(at, at + partBytes))
    response.end()
  }
}
