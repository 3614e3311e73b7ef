/** The audio of calls, in Twilio's words. Beyond those, the start names the session: `callSid` is a SIP id, which Cloudonix' API does not know. */
import { jsonMedia, streamSidDialect } from "#adapters/shared/JsonMedia.ts"
import { parse, textAt } from "#adapters/shared/Json.ts"
import type { AcceptMedia } from "#core/provider/MediaSocket.ts"
import { isToken } from "./CloudonixReply.ts"

const accept = jsonMedia(streamSidDialect)

export const acceptMedia: AcceptMedia = (call, socket, onEvent) => {
  const protocol = accept(call, socket, onEvent)
  return {
    message: (data, isText) => {
      const stream = protocol.message(data, isText)
      if (stream === undefined || call.providerCallId !== undefined) return stream
      const token = textAt(parse(Buffer.from(data).toString()), "start", "session")
      if (isToken(token)) onEvent({ _tag: "Named", providerCallId: token })
      return stream
    },
    closed: (how, why) => protocol.closed(how, why)
  }
}
