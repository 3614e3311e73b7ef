/** Counts a media socket while it is open, and the messages it drops. */
import type { MediaSession } from "#core/provider/CarrierMedia.ts"
import type { MediaSocket } from "#core/provider/MediaSocket.ts"
import type { SocketMetrics } from "#runtime/metrics/SocketMetrics.ts"

export const countedSocket = (counts: SocketMetrics, socket: MediaSocket, open: (counted: MediaSocket) => MediaSession): MediaSession => {
  let isOpen = true
  counts.open++
  // Messages sent after the socket has closed do not count as dropped.
  const noted = (isSent: boolean): boolean => {
    if (!isSent && isOpen) counts.dropped++
    return isSent
  }
  const gone = (): void => {
    if (!isOpen) return
    isOpen = false
    counts.open--
  }
  const session = open({
    bufferedBytes: () => socket.bufferedBytes(),
    close: (code, reason) => {
      gone()
      socket.close(code, reason)
    },
    sendBytes: (message) => noted(socket.sendBytes(message)),
    sendText: (message) => noted(socket.sendText(message))
  })
  return {
    closed: (how, why) => {
      gone()
      session.closed(how, why)
    },
    message: (data, isText) => session.message(data, isText)
  }
}
