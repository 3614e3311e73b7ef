/** A server that gives carriers the same document whenever they ask. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Test } from "tap"

/** Returns its address. */
export const documentServer = async (t: Test, document: string): Promise<string> => {
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "application/xml" }).end(document))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/` // listening on TCP, so neither a path nor null
}
