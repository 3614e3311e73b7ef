/** A server on this machine that answers each request as the test says, and keeps what it was asked. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Test } from "tap"

interface Asked {
  readonly line: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export const answeringServer = async (t: Test, answers: (response: ServerResponse, asked: Asked) => void, at = 0) => {
  const asked: Array<Asked> = []
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += chunk
    const one = { line: `${request.method} ${request.url}`, headers: request.headers, body }
    asked.push(one)
    answers(response, one)
  })
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  // The cast holds because a server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo
  return { asked, port, url: `http://127.0.0.1:${port}` }
}

/** An answer that never ends. */
export const endless = (response: ServerResponse): void => {
  if (response.writableEnded || response.destroyed) return
  response.write("x".repeat(65_536))
  setImmediate(endless, response)
}
