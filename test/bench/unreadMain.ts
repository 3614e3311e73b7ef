/**
 * Clients who read nothing, in a separate process: each sends thousands of requests in one piece, and then one a second, by which it notices that the engine
 * has closed the connection; it opens another at once. Tells how many connections there were.
 */
import { connect, type Socket } from "node:net"

const connections = 200
const requestsEach = 6000
const apartMillis = 1000
const paths = ["/api/v1/openapi.json", "/docs", "/api/v1/health", "/api/v1/nowhere"]

const sockets = new Set<Socket>()
let isOn = false
let opened = 0

const pour = (port: number, path: string): void => {
  if (!isOn) return
  const socket = connect(port, "127.0.0.1")
  socket.pause()
  opened++
  sockets.add(socket)
  const ask = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
  socket.write(ask.repeat(requestsEach))
  const again = setInterval(() => socket.write(ask), apartMillis)
  socket.on("error", () => undefined)
  socket.on("close", () => {
    clearInterval(again)
    sockets.delete(socket)
    pour(port, path)
  })
}

process.on("message", (message: { readonly port: number } | { readonly stop: true }) => {
  if ("port" in message) {
    isOn = true
    opened = 0
    for (let one = 0; one < connections; one++) pour(message.port, paths[one % paths.length] ?? "/")
  } else {
    isOn = false
    for (const socket of sockets) socket.destroy()
    process.send?.({ opened })
  }
})
process.on("disconnect", () => process.exit())
process.send?.({ started: true })
