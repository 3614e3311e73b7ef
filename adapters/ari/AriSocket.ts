/**
 * Opens websockets to an Asterisk. What it sends takes no more of the engine's thread than its organization's share: an Asterisk that sends more is
 * read more slowly. It also answers the websocket's pings, of which Asterisk sends none, in moderation.
 */
import WebSocket from "ws"
import { type Egress, type Kind, portOf } from "#core/egress/Egress.ts"
import { answerPings } from "#adapters/shared/answerPings.ts"
import { pathUnder } from "#adapters/shared/HttpClient.ts"

interface SocketSettings {
  readonly base: URL
  readonly path: string
  readonly authorization: string
  readonly egress: Egress
  readonly kind?: Kind
  readonly protocols?: ReadonlyArray<string>
  readonly mostBytes: number
  readonly handshakeMillis: number
}

export const openWebSocket = ({
  authorization,
  base,
  egress,
  handshakeMillis,
  kind,
  mostBytes,
  path,
  protocols = []
}: SocketSettings): WebSocket => {
  const url = `${base.protocol === "https:" ? "wss:" : "ws:"}//${base.host}${pathUnder(base, path)}`
  const socket = new WebSocket(url, [...protocols], {
    headers: { authorization },
    lookup: egress.lookup(portOf(base)),
    perMessageDeflate: false,
    maxPayload: mostBytes,
    handshakeTimeout: handshakeMillis,
    autoPong: false,
    finishRequest: (request) => {
      request.on("socket", (connection) => egress.pace?.(connection, kind))
      request.end()
    }
  })
  answerPings(socket)
  return socket
}
