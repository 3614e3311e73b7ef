/** Writing to a websocket whose client may read slowly, or be gone. */
import { Effect } from "effect"
import type * as uws from "uWebSockets.js"

export interface Written {
  isOpen: boolean
  /** Called when a full socket can take more. */
  onDrain: () => void
}

/** Returns when the socket can take more; never once it is closed, because the fiber is then interrupted. */
export const written = <Connection extends Written>(
  ws: uws.WebSocket<Connection>,
  connection: Written,
  text: string
): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (!connection.isOpen) return
    const done = () => resume(Effect.void)
    connection.onDrain = done
    ws.cork(() => {
      // 0: accepted, but the socket is full.
      if (ws.send(text) !== 0) done()
    })
  })
