/** A request whose reply is JSON, and is read as a whole. Interrupting it ends the work at the service. */
import type { IncomingMessage } from "node:http"
import { Effect } from "effect"
import type { ModelError } from "#core/model/LanguageModel.ts"
import { retryAfterOf } from "#adapters/shared/HttpClient.ts"
import { at, parseBytes } from "#adapters/shared/Json.ts"
import { broken, midStream, misconfigured, refusedReply, tooLarge, unreachable } from "./modelErrors.ts"
import type { ServiceConnection } from "./ServiceConnection.ts"

const MOST_BYTES = 1024 * 1024

interface WholeRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: something is read. */
  readonly body: Uint8Array | undefined
  /** The text and the key in the request, which errors must not quote. */
  readonly sent: string
}

/** The body of a reply with the status 200, unless it is an error all the same. Undefined: it is not JSON. */
export const wholeReply = (connection: ServiceConnection, request: WholeRequest): Effect.Effect<unknown, ModelError> =>
  Effect.callback((resume) => {
    const { body, headers, path, sent } = request
    const fail = (error: ModelError) => resume(Effect.fail(error))
    const outgoing =
      body === undefined ? connection.get(path, headers) : connection.post(path, { ...headers, "content-length": String(body.length) })
    if (outgoing === undefined) return fail(misconfigured("the engine may not connect to this address"))
    outgoing.on("error", (error) => fail(unreachable(error)))
    outgoing.on("response", (response) => {
      const parts: Array<Buffer> = []
      let length = 0
      response.on("data", (part: Buffer) => {
        length += part.length
        if (length <= MOST_BYTES) return void parts.push(part)
        outgoing.destroy()
        fail(tooLarge("bytes"))
      })
      response.on("error", () => fail(broken("the answer ended early")))
      response.on("end", () => resume(meaningOf(response, parseBytes(Buffer.concat(parts)), sent)))
    })
    if (body === undefined) outgoing.end()
    else outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })

const meaningOf = (
  { headers, statusCode: status = 0 }: IncomingMessage,
  body: unknown,
  sent: string
): Effect.Effect<unknown, ModelError> => {
  if (status !== 200) return Effect.fail(refusedReply({ status, retryAfterMillis: retryAfterOf(headers) }, body, sent))
  return at(body, "error") === undefined ? Effect.succeed(body) : Effect.fail(midStream(body, sent))
}
