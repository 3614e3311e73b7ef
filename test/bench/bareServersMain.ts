/**
 * The controls of `gateway`: a route that answers the same JSON, in uWebSockets alone, without authentication, and in Fastify, which looks the
 * key up in a table.
 */
import { fastify } from "fastify"
import * as uws from "uWebSockets.js"
import { answerMeasures } from "./Measures.ts"

const ready = (port: number) => process.send?.({ port })

const bare = (path: string, value: unknown) => {
  const app = uws.App().get(path, (res) => {
    res.cork(() => {
      res.writeHeader("content-type", "application/json").end(JSON.stringify(value))
    })
  })
  app.listen("127.0.0.1", 0, (socket) => {
    // This function takes a listen socket as a socket, which its declaration does not say.
    if (socket !== false) ready(uws.us_socket_local_port(socket as unknown as uws.us_socket))
  })
}

const known = async (path: string, value: unknown, key: string) => {
  const keys = new Map([[key, { organizationId: 1 }]])
  const app = fastify()
  app.addHook("onRequest", async (request, reply) => {
    if (!keys.has(String(request.headers["x-api-key"]))) return reply.code(401).send({ detail: "Invalid or expired API key" })
  })
  app.get(path, async () => value)
  ready(Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port))
}

answerMeasures()
process.on("message", (message) => {
  if (!(message instanceof Object && "serve" in message && "path" in message && "value" in message && "key" in message)) return
  if (message.serve === "bare") bare(String(message.path), message.value)
  else void known(String(message.path), message.value, String(message.key))
})
process.send?.({ started: true })
