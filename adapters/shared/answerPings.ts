import WebSocket from "ws"

/** RFC 6455, 5.5.3: only the latest of several pings needs an answer. */
const PONG_MILLIS = 1000

/** Answers the pings of a socket that was opened with `autoPong: false`, in moderation: each answer costs more than the ping. */
export const answerPings = (socket: WebSocket): void => {
  let answeredAt = Number.NEGATIVE_INFINITY
  socket.on("ping", (data) => {
    const now = performance.now()
    if (now < answeredAt + PONG_MILLIS || socket.readyState !== WebSocket.OPEN) return
    answeredAt = now
    socket.pong(data)
  })
}
