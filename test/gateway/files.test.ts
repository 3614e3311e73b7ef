import { Effect, Layer } from "effect"
import { readdir, readlink } from "node:fs/promises"
import t from "tap"
import { FileLinks } from "#gateway/file/FileLinks.ts"
import { twinText } from "#test/support/twinText.ts"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, askAsOther, database, makeAgent, makeRun, organizationId, port, writeFile } = await openApi(t)

t.test("given files of an organization", async (t) => {
  const run = await makeRun((await makeAgent()).id)
  const transcript = `transcripts/${run}.txt`
  const document = `knowledge_base/${organizationId}/a/price list.pdf`
  const keys = [
    transcript,
    `recordings/${run}.wav`,
    `recordings/${run}/user.wav`,
    `campaigns/${organizationId}/a.csv`,
    document,
    `recordings/${organizationId}/b/c.wav`
  ]
  await writeFile(transcript, "hello")
  const of = (route: string, key: string) => `/s3/${route}?key=${encodeURIComponent(key)}`

  t.test("when an address is requested, then the owner gets one, and nobody else", async (t) => {
    for (const key of keys) {
      t.equal((await ask("GET", of("signed-url", key))).status, 200, key)
      t.match(await askAsOther("GET", of("signed-url", key)), { status: 403, json: { detail: /^Access denied/ } }, key)
      t.match(await askAsOther("GET", of("file-metadata", key)), { status: 403, json: { detail: /^Access denied/ } }, key)
    }
    for (const key of ["a", "transcripts/x.txt", "recordings/1/other.wav", "../etc/passwd", `campaigns/${organizationId}/`]) {
      t.match(await ask("GET", of("signed-url", key)), { status: 400, json: { detail: "Invalid key format" } }, key)
      t.match(await ask("GET", of("file-metadata", key)), { status: 400, json: { detail: "Invalid key format" } }, key)
    }
    t.match(await ask("GET", of("signed-url", "transcripts/9999999999.txt")), { status: 403 })
    t.equal((await ask("GET", "/s3/signed-url")).status, 422)
  })

  t.test("when an address is opened, then the file is there unless the signature differs", async (t) => {
    const answer = bodyOf(await ask("GET", `${of("signed-url", transcript)}&expires_in=60&inline=true`))
    t.equal(answer["expires_in"], 60)
    const url = String(answer["url"])
    const file = await fetch(url)
    t.strictSame([file.status, file.headers.get("content-type"), await file.text()], [200, "text/plain; charset=utf-8", "hello"])
    t.equal((await fetch(url.replace("inline=1", "inline=0"))).status, 403)
    t.equal((await fetch(url.replace(/expires=\d+/, "expires=99999999999"))).status, 403)
    const missing = bodyOf(await ask("GET", of("signed-url", document)))
    t.equal((await fetch(String(missing["url"]))).status, 404)
  })

  t.test("when only its head is requested, then it is not left open", async (t) => {
    const { url } = bodyOf(await ask("GET", `${of("signed-url", transcript)}&inline=true`))
    const heads = await Promise.all(Array.from({ length: 20 }, () => fetch(String(url), { method: "HEAD" })))
    t.ok(heads.every(({ headers, status }) => status === 200 && headers.get("content-length") === "5"))
    const open = await Promise.all((await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "gone")))
    const leftOpen = open.filter((path) => path.endsWith(transcript))
    t.strictSame(leftOpen, [])
  })

  t.test("when a file's properties are requested, then size and time, or null if there is none", async (t) => {
    t.match(await ask("GET", of("file-metadata", transcript)), {
      json: { key: transcript, metadata: { size: 5, last_modified: /Z$/, content_type: "text/plain; charset=utf-8" } }
    })
    const none = { key: `recordings/${run}.wav`, metadata: null }
    t.strictSame((await ask("GET", of("file-metadata", none.key))).json, none)
  })
})

/** The links of another node on the same database. */
const node = FileLinks.use(Effect.succeed).pipe(Effect.provide(Layer.fresh(FileLinks.layer)))

t.test("given a genuine link, when its time is over, then the file is no longer there for whoever has it", async (t) => {
  const key = `campaigns/${organizationId}/kept.csv`
  await writeFile(key, "phone_number")
  const statusWith = async (seconds: number) => {
    const link = { key, seconds, isInline: false, maker: undefined }
    const path = await database.run(Effect.flatMap(node, (links) => links.make(link)))
    return (await fetch(`http://127.0.0.1:${port}${path}`)).status
  }
  t.strictSame([await statusWith(60), await statusWith(-1)], [200, 403])
})

t.test("given two nodes on one database, when one creates a link, then the other accepts it", async (t) => {
  const path = await database.run(
    Effect.flatMap(node, (links) => links.make({ key: "a/b.txt", seconds: 60, isInline: false, maker: undefined }))
  )
  const query = new URLSearchParams(path.split("?")[1])
  const link = { key: "a/b.txt", expires: Number(query.get("expires")), isInline: false, maker: undefined }
  const signature = query.get("signature") ?? ""
  const check = (given: typeof link, signed = signature) => database.run(Effect.flatMap(node, (links) => links.check(given, signed)))
  await t.resolves(check(link))
  await t.rejects(check({ ...link, key: "a/c.txt" }))
  await t.rejects(check(link, twinText(signature)), "another text that decodes to the same signature")
})
