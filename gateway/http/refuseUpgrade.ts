import type * as uws from "uWebSockets.js"
import type { Reply } from "./Endpoint.ts"
import { hasRoom } from "./turn.ts"

/** Refuses to open a websocket. A client that has not taken what was sent to it before is not told, but loses its connection. */
export const refuseUpgrade = (res: uws.HttpResponse, { body, headers, status }: Reply, closes = false): void => {
  res.onAborted(() => undefined)
  if (closes || !hasRoom() || typeof body !== "string") return void res.close()
  res.writeStatus(`${status} `)
  for (const [name, value] of headers) res.writeHeader(name, value)
  const [, isDone] = res.tryEnd(body, Buffer.byteLength(body))
  if (!isDone) res.close()
}
