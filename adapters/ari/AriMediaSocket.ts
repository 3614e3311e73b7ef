/**
 * Audio over Asterisk's WebSocket channel. We connect to it: an Asterisk that connects to a client which is slow to answer stops creating any
 * channels until it does.
 */
import { Effect } from "effect"
import WebSocket from "ws"
import type { MediaStream } from "#core/provider/Media.ts"
import { openWebSocket } from "./AriSocket.ts"
import { type Asterisk, providerError } from "./Asterisk.ts"
import { MediaEar } from "#adapters/shared/MediaEar.ts"
import { MediaMarks } from "#adapters/shared/MediaMarks.ts"
import { whyFailed } from "#adapters/shared/whyFailed.ts"

const HANDSHAKE_TIMEOUT_MILLIS = 10_000
/** After this long without data we ask for the channel's status; after as long again without a reply the connection is dead. */
const LIVENESS_MILLIS = 5_000
const MAX_MESSAGE_BYTES = 64 * 1024
/** Two seconds of audio: a connection that is this far behind gets no more. */
const MAX_BUFFERED_BYTES = 16_000
const CLOSED_NORMALLY = 1000
const MARK_PLAYED = "MEDIA_MARK_PROCESSED "

export const openSocket = Effect.fnUntraced(function* (asterisk: Asterisk, connectionId: string) {
  if (!/^[\w-]{1,64}$/.test(connectionId)) return yield* providerError("openMedia", "Asterisk named no media connection")
  const ear = new MediaEar()
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => dial(asterisk, connectionId)),
    (socket) =>
      Effect.sync(() => {
        // We close it ourselves, so nobody is notified.
        socket.removeAllListeners("close")
        socket.terminate()
      })
  )
  const line = { heard: true }
  const marks = marksOn(socket, ear)
  yield* Effect.addFinalizer(() => Effect.sync(() => marks.close()))
  const stream = streamOver(socket, ear, marks, line)
  yield* opened(socket)
  yield* Effect.forkScoped(watch(socket, ear, line))
  return stream
})

interface Line {
  /** Something has arrived since it was last checked. */
  heard: boolean
}

/**
 * A callee may be silent for long, so a frozen connection is noticed only by asking. Not by a ping, after which chan_websocket before 20.18 and 22.8
 * hangs up (https://github.com/asterisk/asterisk/pull/1722).
 */
const watch = Effect.fnUntraced(function* (socket: WebSocket, ear: MediaEar, line: Line) {
  let asked = false
  while (line.heard || !asked) {
    asked = !line.heard
    line.heard = false
    if (asked && isOpen(socket)) socket.send("GET_STATUS")
    yield* Effect.sleep(LIVENESS_MILLIS)
  }
  ear.close("failed", "the media websocket does not answer")
  socket.terminate()
})

const dial = ({ authorization, base, egress }: Asterisk, connectionId: string): WebSocket =>
  openWebSocket({
    authorization,
    base,
    egress,
    handshakeMillis: HANDSHAKE_TIMEOUT_MILLIS,
    kind: "audio",
    mostBytes: MAX_MESSAGE_BYTES,
    path: `/media/${connectionId}`,
    protocols: ["media"]
  })

const opened = (socket: WebSocket) =>
  Effect.callback<void, ReturnType<typeof providerError>>((resume) => {
    const fail = (detail: string) => resume(Effect.fail(providerError("openMedia", detail)))
    socket.once("open", () => resume(Effect.void))
    socket.once("unexpected-response", (request, { statusCode }) => {
      request.destroy()
      fail(`media websocket: HTTP ${statusCode}`)
    })
    socket.on("error", (error: NodeJS.ErrnoException) => fail(`media websocket: ${whyFailed(error, "broken")}`))
  })

const isOpen = (socket: WebSocket): boolean => socket.readyState === WebSocket.OPEN

const marksOn = (socket: WebSocket, ear: MediaEar): MediaMarks =>
  new MediaMarks({
    report: (name, how) => ear.marked(name, how),
    // An Asterisk that does not know the command ignores it.
    send: (id) => {
      if (!isOpen(socket)) return false
      socket.send(`MARK_MEDIA ${id}`)
      return true
    }
  })

const streamOver = (socket: WebSocket, ear: MediaEar, marks: MediaMarks, line: Line): MediaStream => {
  // Asterisk buffers 20 s of audio; above 18 s it asks us to stop, and drops what exceeds its buffer.
  let isFull = false
  socket.on("message", (data, isBinary) => {
    line.heard = true
    // With the socket's default binaryType, one message is one Buffer.
    if (isBinary) return ear.hear(data as Buffer)
    const text = data.toString()
    if (text.startsWith("MEDIA_XOFF")) isFull = true
    else if (text.startsWith("MEDIA_XON")) isFull = false
    else if (text.startsWith(MARK_PLAYED)) marks.told(text.slice(MARK_PLAYED.length).trim())
  })
  socket.on("close", (code) => {
    marks.close()
    ear.close(code === CLOSED_NORMALLY ? "ended" : "unknown", `the media websocket was closed (${code})`)
  })
  return {
    send: (frame) => {
      if (isFull || !isOpen(socket) || socket.bufferedAmount >= MAX_BUFFERED_BYTES) return false
      socket.send(frame)
      marks.sent()
      return true
    },
    // Asterisk itself keeps the timing of what it plays.
    skip: () => {},
    clear: () => {
      if (!isOpen(socket)) return
      isFull = false
      socket.send("FLUSH_MEDIA")
      marks.clear()
    },
    mark: (name) => isOpen(socket) && marks.mark(name),
    listen: (listener) => ear.listen(listener)
  }
}
