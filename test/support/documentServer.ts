import { createServer } from "node:http"
import type { Test } from "tap"
import { localPort } from "./localPort.ts"

/** A server that answers every request with this document. Returns its address. */
export const documentServer = async (t: Test, document: string | (() => string), type = "application/xml"): Promise<string> => {
  const server = createServer((_, response) =>
    response.writeHead(200, { "content-type": type }).end(typeof document === "string" ? document : document())
  )
  t.teardown(() => server.close())
  return `http://127.0.0.1:${await localPort(server)}/`
}
