/** Forwards a call's audio to the engine that has the call, or knows which one has it. Called for each message in both directions, so these are plain callbacks. */
import WebSocket from "ws"
import { PASSED_ON } from "#core/provider/CarrierCallbacks.ts"
import { MEDIA_ROUTE, type MediaSession, type MediaUpgrade } from "#core/provider/CarrierMedia.ts"
import type { MediaSocket } from "#core/provider/MediaSocket.ts"
import type { OtherEnd } from "./otherEngine.ts"
import { hostHeader } from "./passOn.ts"

const CONNECT_MILLIS = 5000
/** About two seconds of audio. Anything beyond that is dropped: heard late, it would only disturb. */
const MAX_WAITING_BYTES = 32_768
/** WebSocket close codes (RFC 6455). */
const NORMAL = 1000
const GOING_AWAY = 1001

export const passMediaOn = (
  { address: engine, who }: OtherEnd,
  { address: { call, seal }, headers, query }: MediaUpgrade,
  socket: MediaSocket
): MediaSession => {
  const path = MEDIA_ROUTE.replace(":call", call).replace(":seal", seal) + (query === "" ? "" : `?${query}`)
  const far = new WebSocket(`ws://${engine}${path}`, {
    handshakeTimeout: CONNECT_MILLIS,
    headers: { ...headers, ...hostHeader, [PASSED_ON]: who },
    perMessageDeflate: false
  })
  /** The carrier's messages from before the other engine listens: they may be the only ones that say what the stream is. */
  let early: Array<readonly [data: Uint8Array, isText: boolean]> | undefined = []
  let earlyBytes = 0
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    socket.close(GOING_AWAY, "the engine that has the call has closed its socket")
  }
  far.on("open", () => {
    for (const [data, isText] of early ?? []) far.send(data, { binary: !isText })
    early = undefined
  })
  far.on("message", (data: Buffer, isBinary) => void (isBinary ? socket.sendBytes(data) : socket.sendText(data)))
  far.on("close", end)
  far.on("error", end)
  return {
    message: (data, isText) => {
      if (isOver) return
      if (early === undefined) {
        if (far.bufferedAmount < MAX_WAITING_BYTES) far.send(data, { binary: !isText })
        return
      }
      earlyBytes += data.byteLength
      // The bytes are valid only until this returns.
      if (earlyBytes <= MAX_WAITING_BYTES) early.push([Uint8Array.from(data), isText])
    },
    closed: (how) => {
      isOver = true
      if (how === "ended" && far.readyState === WebSocket.OPEN) far.close(NORMAL)
      else far.terminate()
    }
  }
}
