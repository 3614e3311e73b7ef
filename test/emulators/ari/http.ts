/** Authentication, request bodies and responses of the emulator's HTTP server. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Answer } from "./Route.ts"

/** Accepts basic credentials, or `api_key=user:password`. */
export const isAllowed = (request: IncomingMessage, url: URL, { password, user }: { user: string; password: string }): boolean => {
  const { authorization } = request.headers
  const given = authorization?.startsWith("Basic ")
    ? Buffer.from(authorization.slice("Basic ".length), "base64").toString()
    : url.searchParams.get("api_key")
  return given === `${user}:${password}`
}

export const readBody = async (request: IncomingMessage): Promise<string> => {
  if (request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined) return ""
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export const respond = (response: ServerResponse, { body, status }: Answer, version: string): void => {
  // Set explicitly so that node:http does not add a keep-alive timeout, which Asterisk does not send.
  response.setHeader("connection", "keep-alive")
  response.setHeader("server", `Asterisk/${version}`)
  if (body === undefined) return void response.writeHead(status).end()
  const text = JSON.stringify(body)
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text)
}

/** A response of a proxy in front of Asterisk: with the proxy's own name, and not JSON. */
export const respondAsIngress = (response: ServerResponse, status: number): void => {
  response.setHeader("server", "ingress")
  response.writeHead(status, { "content-type": "text/html" }).end(`<html><body>${status}</body></html>`)
}
