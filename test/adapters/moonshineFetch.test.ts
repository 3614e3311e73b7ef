/** How Moonshine gets onto a machine: from npm's registry, checked by hash, or not at all, with the reason. */
import { createHash } from "node:crypto"
import { readdir } from "node:fs/promises"
import { createServer } from "node:http"
import { basename, dirname } from "node:path"
import { gzipSync } from "node:zlib"
import { Effect } from "effect"
import t from "tap"
import { fetchMoonshine } from "#adapters/voice/moonshine/fetchMoonshine.ts"
import { tokensOf } from "#adapters/voice/moonshine/MoonshineFiles.ts"
import { filesIn } from "#adapters/voice/moonshine/tarball.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"

/** A tarball as npm makes it, without checksums. */
const packed = (files: Readonly<Record<string, string>>): Buffer => {
  const blocks = Object.entries(files).flatMap(([path, text]) => {
    const header = Buffer.alloc(512)
    const folder = path.length > 99 ? dirname(path) : ""
    header.write(folder === "" ? path : basename(path), 0)
    header.write(Buffer.byteLength(text).toString(8).padStart(11, "0"), 124)
    header.write("0", 156)
    header.write("ustar", 257)
    header.write(folder, 345)
    const content = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512)
    content.write(text)
    return [header, content]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

t.test("given a tarball, then the files that are asked for are read, in that order", async (t) => {
  const long = `package/${"folder/".repeat(15)}model.onnx`
  const tarball = packed({ "package/package.json": "{}", "package/b": "b".repeat(513), [long]: "onnx", "package/empty": "" })
  const texts = filesIn(tarball, [long, "package/b", "package/empty"]).map((file) => Buffer.from(file).toString())
  t.strictSame(texts, ["onnx", "b".repeat(513), ""])
  t.throws(() => filesIn(tarball, ["package/c"]), /it has no package\/c/)
})

t.test("given the program with the token table, then each token is written with its number", async (t) => {
  const table = Buffer.from(["<unk>", "<0x0A>", "▁the", "’"].join("\n")).toString("base64")
  const lines = tokensOf(`const llama_vocab_base64 = "${table}";`).trim().split("\n")
  t.strictSame(
    lines.map((line) => {
      const [token = "", id] = line.split(" ")
      return [Buffer.from(token, "base64").toString(), id]
    }),
    [
      ["<unk>", "0"],
      ["\n", "1"],
      [" the", "2"],
      ["’", "3"]
    ]
  )
  t.throws(() => tokensOf("const other = 1"), /token table/)
})

/** Returns why it could not be fetched from a registry. */
const fetchedFrom = async (registry: string, root: string): Promise<string | undefined> => {
  const settings = { npm_config_registry: registry, npm_config_cache: `${root}-npm`, npm_config_fetch_retries: "0" }
  // The process that fetches them does not keep this one alive.
  const alive = setInterval(() => {}, 1000)
  const why = await Effect.runPromise(
    Effect.match(fetchMoonshine({ root, sizes: ["tiny"] }, { ...process.env, ...settings }), {
      onSuccess: () => undefined,
      onFailure: ({ message }) => message
    })
  )
  clearInterval(alive)
  return why
}

t.test("given a registry that cannot be reached, then npm's reason is told, and nothing is left", async (t) => {
  const root = temporaryFolder(t)
  t.match(await fetchedFrom("http://127.0.0.1:1/", root), /ECONNREFUSED|127\.0\.0\.1/)
  t.strictSame(await readdir(root), [])
})

t.test("given a registry that has another package under the name, then it is refused by its hash, and nothing is left", async (t) => {
  const tarball = packed({ "package/package.json": "{}", "package/llama-tokenizer.js": "" })
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`
  const server = createServer((request, response) => {
    if (request.url?.endsWith(".tgz") === true) return void response.end(tarball)
    const dist = { tarball: `http://${request.headers.host}/one.tgz`, integrity }
    const versions = { "1.2.2": { name: "llama-tokenizer-js", version: "1.2.2", dist } }
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ name: "llama-tokenizer-js", "dist-tags": { latest: "1.2.2" }, versions }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const root = temporaryFolder(t)
  const why = await fetchedFrom(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`, root)
  t.match(why, /llama-tokenizer-js@1\.2\.2 is not the package that was expected/)
  t.strictSame(await readdir(root), [])
})
