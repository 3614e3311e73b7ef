import type { Socket } from "node:net"

/**
 * RST. A socket whose own half has ended can only be closed: libuv does not reset one that is shutting down, and Node would then wait for
 * its handle for ever when the process ends.
 */
export const resetSocket = (socket: Socket): void => {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
