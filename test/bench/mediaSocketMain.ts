/**
 * The server of `media-socket`, in a separate process: the gateway's media sockets, each with a carrier's adapter that sends every frame
 * back as it comes; or, as the control, uWebSockets alone, which answers each message with as many bytes.
 */
import { Effect, Layer } from "effect"
import * as uws from "uWebSockets.js"
import twilio from "#adapters/twilio/twilio.ts"
import vonage from "#adapters/vonage/vonage.ts"
import { CallId } from "#core/Id.ts"
import { CarrierMedia, MEDIA_ROUTE } from "#core/provider/CarrierMedia.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import { mountMediaSockets } from "#gateway/http/mediaSockets.ts"
import { MediaSockets } from "#runtime/call/MediaSockets.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { journalOf } from "#test/support/fakeJournal.ts"
import { answerMeasures } from "./Measures.ts"
import { answerOf, type Dialect } from "./mediaFrames.ts"

const accepts = { twilio: twilio.media?.accept, vonage: vonage.media?.accept }

const echo = (stream: MediaStream): void => stream.listen({ frame: (frame) => void stream.send(frame), closed: () => {} })

/** What the engine does with an admitted socket. */
const ours = (app: uws.TemplatedApp, dialect: Dialect) =>
  Effect.gen(function* () {
    const sockets = yield* MediaSockets
    const admit: (typeof CarrierMedia)["Service"]["admit"] = ({ address }) => {
      const callId = CallId.make(address.call)
      const call: CallRef = { callId, endpoint: undefined, from: undefined, providerCallId: undefined, sentAt: 0, to: undefined }
      sockets.listen(callId, echo)
      return {
        _tag: "Admitted",
        open: (socket) =>
          sockets.open(
            callId,
            (own) => {
              const protocol = accepts[dialect]?.(call, own, () => {})
              if (protocol === undefined) throw new Error(`${dialect} has no media sockets`)
              return protocol
            },
            socket
          )
      }
    }
    yield* Effect.provideService(mountMediaSockets(app, []), CarrierMedia, { admit })
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      Layer.provide(
        MediaSockets.layer,
        Layer.succeed(LocalJournal, journalOf({ freezes: 0, isDiskFull: false, journal: [], left: "unsure", realMillis: 0 }))
      )
    )
  )

const bare = (app: uws.TemplatedApp, dialect: Dialect) => {
  const answer = answerOf(dialect)
  const isBinary = Buffer.isBuffer(answer)
  app.ws(MEDIA_ROUTE, { message: (ws) => void ws.send(answer, isBinary, false) })
}

answerMeasures()
process.on("message", (message) => {
  if (!(message instanceof Object && "serve" in message && "dialect" in message)) return
  // It comes from the benchmark, which sends nothing else.
  const dialect = message.dialect as Dialect
  const app = uws.App()
  if (message.serve === "bare") bare(app, dialect)
  else Effect.runFork(ours(app, dialect))
  app.listen("127.0.0.1", 0, (socket) => {
    // This function takes a listen socket as a socket, which its declaration does not say.
    if (socket !== false) process.send?.({ port: uws.us_socket_local_port(socket as unknown as uws.us_socket) })
  })
})
process.on("disconnect", () => process.exit())
process.send?.({ started: true })
