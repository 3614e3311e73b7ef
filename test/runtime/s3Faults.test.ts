/** Every fault of a bucket: what is retried, what is reported, and what is kept locally in the meantime. */
import { Effect, Stream } from "effect"
import t, { type Test } from "tap"
import type { Files } from "#runtime/storage/Files.ts"
import { key, recorded } from "#test/support/bucketScene.ts"
import { bucket, seen } from "./bucket.ts"

const other = "transcripts/7-abcdefghijklmnopqrstuv.txt"
const large = Buffer.alloc(20 * 1024 * 1024, "0123456789abcde")
const waited = "the bucket of files cannot be used: what it should take waits on this machine"
const passed = "the bucket of files can be used again"
const failureOf = <A>(effect: Effect.Effect<A, unknown>) =>
  Effect.match(effect, { onSuccess: () => undefined, onFailure: (error) => error })

const error = (status: number, code: string) => ({ kind: "error", status, code }) as const
const isProbe = ({ key }: { readonly key: string }) => key.includes("probe")
const isTransfer = (request: { readonly key: string; readonly method: string }) => request.method === "PUT" && !isProbe(request)

/** A scene with a file in its bucket. */
const stored = async (t: Test, bytes: Uint8Array = Buffer.from("hello world")) => {
  const scene = await bucket(t)
  await scene.stores(bytes)
  scene.emulator.log.length = 0
  return scene
}
const wholeOf = (files: Files["Service"], name = key) =>
  Effect.flatMap(files.open(name), (file) => Effect.map(Stream.runCollect(file.read(0, file.bytes)), (pieces) => Buffer.concat(pieces)))

for (const [status, code] of [
  [503, "SlowDown"],
  [500, "InternalError"],
  [429, "TooManyRequests"]
] as const) {
  t.test(`given a bucket that answers ${code}, when it accepts files again, then it gets the waiting ones`, async (t) => {
    const { emulator, inBucket, kept, living, metrics, said } = await bucket(t)
    emulator.faultOf = (request) => (isTransfer(request) ? error(status, code) : undefined)
    await living(function* (files) {
      yield* recorded(files, Buffer.from("hello"))
      yield* seen("two rounds of tries", () => emulator.log.filter(isTransfer).length >= 6)
      t.equal(metrics.waiting, 1)
      t.equal(Buffer.from(yield* files.read(key)).toString(), "hello", "and is read here")
      emulator.faultOf = () => undefined
      yield* kept
    })
    t.equal(inBucket()?.toString(), "hello")
    t.strictSame(said, [`${waited}: ${code}`, passed], "and the log tells of it once")
  })
}

const refusals = [
  [403, "AccessDenied", `${waited}: AccessDenied`, 1],
  [400, "EntityTooLarge", /^a file could not be stored in the bucket.*EntityTooLarge$/, 0]
] as const
for (const [status, code, expected, troubles] of refusals)
  t.test(`given a file that the bucket refuses with ${code}, then it does not hold up others, and stays on this machine`, async (t) => {
    const { emulator, inBucket, living, metrics, said, waiting } = await bucket(t)
    emulator.faultOf = (request) => (isTransfer(request) && request.key.endsWith(".txt") ? error(status, code) : undefined)
    await living(function* (files) {
      yield* files.write(other, Buffer.from("hello"))
      yield* seen("refusal", () => emulator.log.some(isTransfer))
      yield* recorded(files, large)
      yield* seen("the other one", () => inBucket() !== undefined)
      t.equal(inBucket()?.compare(large), 0)
      yield* seen("count of what is left", () => metrics.waiting === 1)
      t.equal(Buffer.from(yield* files.read(other)).toString(), "hello", "and it is still here")
    })
    t.equal((await waiting()).length, 1)
    t.match(said[0], expected)
    t.equal(said.filter((line) => line.startsWith(waited)).length, troubles, "only a refusal that may concern all is trouble of the bucket")
  })

t.test("given requests that break, or whose replies are lost, then they are repeated at once", async (t) => {
  const { emulator, inBucket, said, stores } = await bucket(t)
  let faults = 0
  emulator.faultOf = (request) => {
    if (!isTransfer(request) || faults === 2) return undefined
    faults++
    return { kind: faults === 1 ? "reset" : "loseReply" }
  }
  await stores(Buffer.from("hello"))
  t.equal(inBucket()?.toString(), "hello")
  t.equal(emulator.log.filter(isTransfer).length, 3)
  t.strictSame(said, [], "and nobody need know")
})

for (const kind of ["loseReply", "lateError"] as const) {
  t.test(`given a large file, when its completion meets ${kind}, then the bucket gets it, and no parts are left`, async (t) => {
    const { emulator, inBucket, stores } = await bucket(t)
    let faults = 0
    emulator.faultOf = ({ method, query }) => (method === "POST" && query["uploadId"] !== undefined && faults++ < 1 ? { kind } : undefined)
    await stores(large)
    t.equal(inBucket()?.compare(large), 0)
    t.equal(emulator.uploads.size, 0)
  })
}

for (const kind of ["cut", "truncate"] as const) {
  t.test(`given a file that is being read, when its body meets "${kind}", then reading continues where it stopped`, async (t) => {
    const bytes = large.subarray(0, 300_000)
    const { emulator, using } = await stored(t, bytes)
    let faults = 0
    emulator.faultOf = ({ method }) => (method === "GET" && faults++ < 2 ? { kind, bytes: 100_000 } : undefined)
    const read = await using((files) => wholeOf(files))
    t.equal(read.compare(bytes), 0)
    const [first, second, third] = emulator.requests("GET", /wav/).map(({ range }) => range)
    t.equal(first, "bytes=0-299999")
    t.match([second, third], [/^bytes=[1-9]\d*-299999$/, /^bytes=[1-9]\d*-299999$/])
  })
}

t.test("given a file that is replaced while it is read, then its reader gets an error, not a mixture", async (t) => {
  const { emulator, using } = await stored(t, large.subarray(0, 300_000))
  emulator.faultOf = ({ method }) => {
    if (method !== "GET") return undefined
    const object = emulator.objects.get(`kept/${key}`)
    if (object !== undefined) emulator.hold = () => void emulator.objects.set(`kept/${key}`, { ...object, etag: '"another"' }) as undefined
    return { kind: "cut", bytes: 1000 }
  }
  t.ok(await using((files) => failureOf(wholeOf(files))))
})

t.test(
  "given a bucket that never answers, then a reader is told within seconds, and the next one at once",
  { timeout: 120_000 },
  async (t) => {
    const { emulator, living } = await stored(t)
    emulator.faultOf = (request) => (isProbe(request) ? undefined : { kind: "hang" })
    const found = await living(function* (files) {
      const first = yield* failureOf(files.open(key))
      const asked = emulator.requests("HEAD", /wav/).length
      const second = yield* failureOf(files.open(key))
      return { first, second, isAskedAgain: emulator.requests("HEAD", /wav/).length > asked }
    })
    t.match(found, { first: { _tag: "FilesAway", retryAfterSeconds: 5 }, second: { _tag: "FilesAway" }, isAskedAgain: false })
  }
)

t.test("given connections that are refused, then the engine starts, keeps files locally, and stores them later", async (t) => {
  const { emulator, inBucket, kept, living, said } = await bucket(t)
  await emulator.goAway()
  await living(function* (files) {
    yield* recorded(files, Buffer.from("hello"))
    t.match(yield* failureOf(files.stat(other)), { _tag: "FilesAway" })
    t.match(yield* failureOf(files.remove(other)), { _tag: "FilesAway" })
    yield* Effect.promise(() => emulator.comeBack())
    yield* kept
  })
  t.equal(inBucket()?.toString(), "hello")
  t.match(said[0], /ECONNREFUSED$/)
})

const refusedStart = (what: string, life: object, code: string) =>
  t.test(`given ${what}, then the engine does not start, and says where the problem is, without a key`, async (t) => {
    const { emulator, using } = await bucket(t)
    const error = await using(() => Effect.void, life).catch((cause: unknown) => cause)
    const name = "bucket" in life ? life.bucket : emulator.bucket
    t.match(error, {
      _tag: "BucketRefused",
      message: `FILES_URL: the bucket "${name}" at ${emulator.endpoint} cannot be written: ${code}`
    })
    t.notMatch(JSON.stringify(error), emulator.keys.secretAccessKey)
    t.notMatch(JSON.stringify(error), emulator.keys.accessKeyId)
  })

refusedStart("a wrong secret", { keys: { AWS_SECRET_ACCESS_KEY: "wrong" } }, "SignatureDoesNotMatch")
refusedStart("an unknown access key", { keys: { AWS_ACCESS_KEY_ID: "AKIANOBODY" } }, "InvalidAccessKeyId")
refusedStart("a session token that is not wanted", { keys: { AWS_SESSION_TOKEN: "x" } }, "InvalidToken")
refusedStart("a bucket that is missing", { bucket: "others" }, "NoSuchBucket")

t.test("given keys that are revoked in the meantime, then files wait, readers are told so, and the log says why", async (t) => {
  const { emulator, living, metrics, said, waiting } = await stored(t)
  emulator.faultOf = (request) => (isProbe(request) ? undefined : error(403, "AccessDenied"))
  await living(function* (files) {
    t.match(yield* failureOf(files.open(key)), { _tag: "FilesAway" })
    yield* files.write(other, Buffer.from("x"))
    yield* seen("tries", () => emulator.log.filter(isTransfer).length >= 2)
  })
  t.strictSame([metrics.waiting, (await waiting()).length], [1, 1])
  t.strictSame(said, [`${waited}: HTTP403`], "in a word, because the answer to HEAD has none")
})

t.test("given a bucket that is deleted while the engine runs, then its files are not treated as missing", async (t) => {
  const { emulator, using } = await stored(t)
  t.match(await using((files) => failureOf(files.open(other))), { _tag: "FileNotFound" })
  emulator.faultOf = (request) => (isProbe(request) ? undefined : error(404, "NoSuchBucket"))
  t.match(await using((files) => failureOf(files.open(key))), { _tag: "FilesAway" })
})

t.test("given a removal that the bucket refuses, then the error says so, and it can be repeated", async (t) => {
  const { emulator, inBucket, living } = await stored(t)
  emulator.faultOf = (request) => (request.method === "DELETE" && !isProbe(request) ? error(403, "AccessDenied") : undefined)
  await living(function* (files) {
    t.match(yield* failureOf(files.remove(key)), { _tag: "FilesAway" })
    emulator.faultOf = () => undefined
    yield* files.remove(key)
    yield* files.remove(key)
  })
  t.equal(inBucket(), undefined)
})
