/** Writing to a websocket whose client may read slowly, or be gone. */
import { Effect } from "effect"
import type * as uws from "uWebSockets.js"

/** A connection that is written to by one fiber or more. */
export interface Written {
  isOpen: boolean
  /** Called when a full socket can take more. */
  readonly onDrain: Set<() => void>
}

/** To be called when the socket may have sent what it held back. */
export const drained = <Connection extends Written>(ws: uws.WebSocket<Connection>): void => {
  if (ws.getBufferedAmount() > 0) return
  const { onDrain } = ws.getUserData()
  const waiting = [...onDrain]
  onDrain.clear()
  for (const goOn of waiting) goOn()
}

/** Returns when the socket can take more; never once it is closed, because the fiber is then interrupted. */
export const written = <Connection extends Written>(
  ws: uws.WebSocket<Connection>,
  connection: Written,
  text: string
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { isOpen, onDrain } = connection
    if (!isOpen) return Effect.never
    ws.cork(() => void ws.send(text))
    if (!connection.isOpen) return Effect.never
    if (ws.getBufferedAmount() === 0) {
      // What others wait for has gone out with it, and is not reported then.
      drained(ws)
      return Effect.void
    }
    const room = Effect.callback<void>((resume) => {
      const goOn = () => resume(Effect.void)
      onDrain.add(goOn)
      return Effect.sync(() => void onDrain.delete(goOn))
    })
    return Effect.raceFirst(
      room,
      Effect.forever(
        Effect.andThen(
          Effect.sleep(NUDGE),
          Effect.sync(() => nudge(ws, connection))
        )
      )
    )
  })

/** What is written while uWebSockets reports that there is room again can be left lying, without any further report. */
const NUDGE = "100 millis"
const nudge = <Connection extends Written>(ws: uws.WebSocket<Connection>, { isOpen }: Written): void => {
  if (!isOpen) return
  // Uncorking sends what is held.
  ws.cork(() => undefined)
  drained(ws)
}

/** uWebSockets drops what is too much for a socket. */
const mostNow = 262_144

/** Whether these messages are on their way; not while the socket is full, and not if they are many. */
export const writtenNow = <Connection extends Written>(
  ws: uws.WebSocket<Connection>,
  { isOpen }: Written,
  texts: ReadonlyArray<string>
): boolean => {
  if (!isOpen || ws.getBufferedAmount() > 0 || texts.reduce((sum, { length }) => sum + length, 0) > mostNow) return false
  ws.cork(() => {
    for (const text of texts) ws.send(text)
  })
  return true
}
