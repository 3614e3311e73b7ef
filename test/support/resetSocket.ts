import type { Socket } from "node:net"

/**
 * Sends RST. A socket whose own half has ended can only be closed: libuv does not reset a socket that is shutting down, and Node would then wait
 * forever for its handle when the process exits.
 */
export const resetSocket = (socket: Socket): void => {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
