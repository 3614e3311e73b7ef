/** Forwards a carrier callback about a call to the engine that has the call, or knows which one has it. */
import { Effect, Schema } from "effect"
import { type OutgoingHttpHeaders, request } from "node:http"
import { callbackPathOf } from "#core/provider/CallbackAddress.ts"
import { type CarrierAnswer, type CarrierCall, PASSED_ON } from "#core/provider/CarrierCallbacks.ts"
import type { OtherEnd } from "./otherEngine.ts"

const ANSWER_MILLIS = 10_000
/** The documents that instruct a carrier are smaller than this. */
const MAX_ANSWER_BYTES = 262_144

class NotPassedOn extends Schema.TaggedError<NotPassedOn>()("NotPassedOn", { why: Schema.String }) {}

/** Every engine accepts this host name, whatever its address. */
export const hostHeader = { host: "localhost" }

/** The other engine's answer. */
export const passOn = ({ address, who }: OtherEnd, call: CarrierCall): Effect.Effect<CarrierAnswer, NotPassedOn> =>
  Effect.callback<CarrierAnswer, NotPassedOn>((resume) => {
    const fail = (why: string) => resume(Effect.fail(new NotPassedOn({ why })))
    const path = callbackPathOf(call.address) + (call.query === "" ? "" : `?${call.query}`)
    const headers: OutgoingHttpHeaders = { ...call.headers, ...hostHeader, [PASSED_ON]: who, "content-length": call.body.byteLength }
    const sent = request(`http://${address}${path}`, { headers, method: call.method, timeout: ANSWER_MILLIS }, (response) => {
      const chunks: Array<Buffer> = []
      let bytes = 0
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.byteLength
        if (bytes > MAX_ANSWER_BYTES) response.destroy(new Error("the answer is too large"))
        else chunks.push(chunk)
      })
      response.once("error", ({ message }) => fail(message))
      response.once("end", () => {
        const status = statusOf(response.statusCode)
        if (status === undefined) return fail(`it answered ${response.statusCode}`)
        resume(Effect.succeed({ body: Buffer.concat(chunks).toString(), mediaType: response.headers["content-type"], status }))
      })
    })
    sent.once("timeout", () => sent.destroy(new Error("it does not answer")))
    sent.once("error", ({ message }) => fail(message))
    sent.end(call.body)
    return Effect.sync(() => sent.destroy())
  })

const statuses: ReadonlyArray<CarrierAnswer["status"]> = [200, 400, 403, 503]
const statusOf = (code: number | undefined) => statuses.find((status) => status === code)
