/** A carrier's media protocol without a socket: what carrier and engine have sent, and what is reported. */
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import type { MediaProtocol } from "#core/provider/MediaSocket.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { refTo } from "#test/support/refTo.ts"
import { newCallId } from "./Line.ts"

type Accept = NonNullable<Adapter["media"]>["accept"]

export const talkOver = (accept: Accept) => {
  /** Messages, and frames as they are. */
  const sent: Array<unknown> = []
  const events: Array<TrunkEvent> = []
  const heard: Array<Buffer> = []
  const told: Array<string> = []
  const ends: Array<readonly [MediaEnd, string]> = []
  let hasRoom = true
  const take = (message: unknown) => hasRoom && sent.push(message) > 0
  const protocol: MediaProtocol = accept(
    refTo(newCallId()),
    {
      sendText: (message) => take(JSON.parse(Buffer.from(message).toString())),
      sendBytes: (message) => take(Buffer.from(message)),
      bufferedBytes: () => 0,
      close: () => {}
    },
    (event) => void events.push(event)
  )
  const says = (message: object | string) =>
    protocol.message(Buffer.from(typeof message === "string" ? message : JSON.stringify(message)), true)
  const follow = (stream: MediaStream | undefined): MediaStream => {
    if (stream === undefined) throw new Error("no stream has begun")
    stream.listen({
      frame: (frame) => void heard.push(Buffer.from(frame)),
      marked: (name, how) => void told.push(`${name} ${how}`),
      closed: (how, why) => void ends.push([how, why])
    })
    return stream
  }
  const room = (has: boolean) => {
    hasRoom = has
  }
  return { ends, events, follow, heard, protocol, room, says, sent, told }
}
