/** The command that copies a folder of files into a bucket, as a separate process. */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import t from "tap"
import { S3Emulator } from "#test/emulators/s3/S3Emulator.ts"
import { removeData } from "#test/support/dataFolder.ts"

const program = fileURLToPath(new URL("../../runtime/copyFiles.ts", import.meta.url))
const names = ["campaigns/1/list.csv", "recordings/7-abc.wav", "recordings/1/r0/hello.mp3", "transcripts/7-abc.txt"]
const unwanted = ["recordings/.half.part", "drafts/node1.opus"]

const copy = async (environment: Readonly<Record<string, string>>, ...words: ReadonlyArray<string>) => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  // Through env, because tap makes every Node process that it sees report its coverage.
  const child = spawn("env", ["-i", ...variables, process.execPath, program, ...words])
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => void (output += piece.toString()))
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve))
  return { code, output }
}

t.test("given a folder of files, when it is copied into a bucket, in two tries", async (t) => {
  const bucket = await S3Emulator.start()
  const folder = await mkdtemp(join(tmpdir(), "trunkline-copy-"))
  t.teardown(async () => {
    await bucket.stop()
    await removeData(folder)
  })
  for (const name of [...names, ...unwanted]) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), `content of ${name}`)
  }
  bucket.faultOf = ({ key, method }) =>
    method === "PUT" && key.endsWith(".txt") ? { kind: "error", status: 403, code: "AccessDenied" } : undefined
  const first = await copy(bucket.environment(), folder)
  bucket.faultOf = () => undefined
  const sent = bucket.objects.size
  const second = await copy(bucket.environment(), folder)
  const third = await copy(bucket.environment(), folder)

  t.match(first, { code: 1, output: "Files could not be copied: AccessDenied" })
  t.match(second, { code: 0, output: `4 files are in the bucket, ${4 - sent} of them new there` }, "then the second try continues")
  t.match(third, { code: 0, output: "4 files are in the bucket, 0 of them new there" })
  t.strictSame([...bucket.objects.keys()].sort(), names.map((name) => `kept/${name}`).sort())
  t.equal(bucket.objects.get("kept/recordings/7-abc.wav")?.bytes.toString(), "content of recordings/7-abc.wav")
  const areThere = [...names, ...unwanted].every((name) => existsSync(join(folder, name)))
  t.ok(areThere, "and the folder keeps all of them")
})

t.test("given no bucket or no folder, then the command says what it needs", async (t) => {
  t.match(await copy({}, "/tmp"), { code: 1, output: "Set FILES_URL and name the folder" })
})
