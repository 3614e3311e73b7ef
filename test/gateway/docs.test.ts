/** The documentation as a page: everything that it consists of comes from this server, and it may request nothing from elsewhere. */
import { readFileSync } from "node:fs"
import { request } from "node:http"
import { createRequire } from "node:module"
import { buffer } from "node:stream/consumers"
import { gunzipSync } from "node:zlib"
import t from "tap"
import { apiRoutes } from "#gateway/api.ts"
import { documentRoutes } from "#gateway/routes/document.ts"
import { send, serving } from "./gatewayTest.ts"

const gateway = await serving(t, documentRoutes(apiRoutes([])))
const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  send({ port: gateway.port }, "GET", path, { key: null, headers })

t.test("given the page", async (t) => {
  const page = await get("/docs")
  t.match(page, { status: 200, headers: { "content-type": "text/html; charset=utf-8" } })
  t.match(page.headers["content-security-policy"], /default-src 'none'.*connect-src 'self'/)
  t.notMatch(page.headers["content-security-policy"], /unsafe|https?:|\*/, "then it runs only code from this server")
  const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => String(address))
  const elsewhere = named.filter((address) => !address.startsWith("/") && !address.startsWith("data:"))
  t.strictSame(elsewhere, [], "then it refers to nothing elsewhere")
  for (const address of named.filter((one) => one.startsWith("/docs/"))) {
    t.match(await get(address), { status: 200, headers: { "content-type": /^text\/(css|javascript)/ } }, `then ${address} is there`)
  }
})

t.test("given the reference that it shows", async (t) => {
  const bundle = await get("/docs/swagger-ui-bundle.js")
  t.equal(
    bundle.text,
    readFileSync(createRequire(import.meta.url).resolve("swagger-ui-dist/swagger-ui-bundle.js"), "utf8"),
    "then it is the package's own"
  )
  for (const name of ["nothing.js", "package.json", "..%2Fdocument.ts", "%2e%2e%2fapi.ts", "files.ts"]) {
    t.match(await get(`/docs/${name}`), { status: 404 }, `then ${name} is not there`)
  }
})

/** What is sent, as it is sent. */
const sentFor = (path: string, coding: string) =>
  new Promise<{ readonly coding: string | undefined; readonly length: number; readonly bytes: Buffer }>((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port: gateway.port, path, headers: { "accept-encoding": coding } }, async (answer) => {
      const { "content-encoding": given, "content-length": length } = answer.headers
      resolve({ coding: given, length: Number(length), bytes: await buffer(answer) })
    })
    asked.on("error", reject)
    asked.end()
  })

t.test("given texts that stay the same, when a client takes gzip, then they are compressed", async (t) => {
  for (const path of ["/docs/swagger-ui-bundle.js", "/docs", "/llms.txt"]) {
    const plain = (await get(path)).text
    for (const coding of ["gzip", "deflate, gzip;q=0.5, br", "x-gzip"]) {
      const sent = await sentFor(path, coding)
      t.strictSame([sent.coding, sent.length], ["gzip", sent.bytes.length], `${path} ${coding}`)
      t.ok(gunzipSync(sent.bytes).toString() === plain)
      t.ok(sent.bytes.length < plain.length)
    }
    for (const coding of ["", "identity", "br", "gzip;q=0", "gzip; q=0.00"]) {
      const sent = await sentFor(path, coding)
      t.strictSame([sent.coding, sent.bytes.toString() === plain], [undefined, true], `${path} ${coding}`)
    }
  }
})

t.test("given the root", async (t) => {
  const browser = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" })
  t.match(browser, { status: 302, headers: { location: "/console" } }, "then a browser is sent to the console")
  t.strictSame(
    (await get("/")).json,
    { console: "/console", docs: "/docs", health: "/api/v1/health", openapi: "/api/v1/openapi.json" },
    "and a program is told"
  )
})
