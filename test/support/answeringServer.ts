/** A server on this machine that answers each request as the test says, and keeps what it was asked. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import type { Test } from "tap"
import { localPort } from "./localPort.ts"

export interface Asked {
  readonly method: string
  readonly path: string
  /** For example `GET /path`. */
  readonly line: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export const answeringServer = async (t: Test, answers: (response: ServerResponse, asked: Asked) => void, at = 0) => {
  const asked: Array<Asked> = []
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined)
    if (body === undefined) return // the client has gone
    const { headers, method = "", url = "" } = request
    const one = { method, path: url, line: `${method} ${url}`, headers, body }
    asked.push(one)
    answers(response, one)
  })
  const port = await localPort(server, at)
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { asked, port, url: `http://127.0.0.1:${port}` }
}

/** An answer that never ends. */
export const endless = (response: ServerResponse): void => {
  if (response.writableEnded || response.destroyed) return
  response.write("x".repeat(65_536))
  setImmediate(endless, response)
}
