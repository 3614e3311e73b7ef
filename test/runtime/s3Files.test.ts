/** Files in a bucket, as requests over the network: what is stored, read in part, replaced and removed, and by which process. */
import { Effect, Fiber, Redacted, Stream } from "effect"
import { existsSync } from "node:fs"
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import t from "tap"
import { read } from "#runtime/config/config.ts"
import { bucketKeys } from "#runtime/files.ts"
import type { Files } from "#runtime/storage/Files.ts"
import { key, recorded } from "#test/support/bucketScene.ts"
import { bucket, seen } from "./bucket.ts"

const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString())
const tagOf = <A, R>(effect: Effect.Effect<A, { readonly _tag: string }, R>) =>
  Effect.match(effect, { onSuccess: () => "none", onFailure: ({ _tag }) => _tag })

t.test("given a file that is complete, then the bucket gets it, and this machine does not keep it", async (t) => {
  const { emulator, inBucket, metrics, stores, waiting } = await bucket(t)
  await stores(Buffer.from("hello"))
  t.equal(text(inBucket()), "hello")
  t.strictSame([await waiting(), metrics.stored], [[], 1])
  const elsewhere = emulator.log.filter(({ key }) => !key.startsWith("kept/"))
  t.strictSame(elsewhere, [], "under the prefix")
  t.strictSame([...emulator.objects.keys()], [`kept/${key}`], "and nothing else")
})

t.test("given a file that is still growing, then it cannot be read, and is neither in the bucket nor lost", async (t) => {
  const { emulator, folder, living, using } = await bucket(t)
  const found = await living(function* (files) {
    const path = yield* files.createWriter(key)
    yield* Effect.promise(() => writeFile(path, "half"))
    return { path, stat: yield* tagOf(files.stat(key)) }
  })
  t.equal(found.stat, "FileNotFound")
  t.equal(found.path, join(folder, "growing", key))
  t.equal(emulator.objects.size, 0)
  t.equal(await using((files) => Effect.map(files.path(key), existsSync)), true, "the next process finds it")
})

t.test("given a file that waits and the same one in the bucket, when it is read, then both return the same", async (t) => {
  const { emulator, kept, living, using } = await bucket(t)
  const readAll = function* (files: Files["Service"]) {
    const file = yield* files.open(key)
    const part = yield* Stream.runCollect(file.read(2, 5))
    const copied = yield* Effect.scoped(Effect.flatMap(files.localCopy(key), (path) => Effect.promise(() => readFile(path, "utf8"))))
    const { bytes } = yield* files.stat(key)
    return { bytes: file.bytes, part: text(Buffer.concat(part)), whole: text(yield* files.read(key)), copied, stat: bytes }
  }
  const expected = { bytes: 11, part: "llo", whole: "hello world", copied: "hello world", stat: 11 }
  const waits = living(
    function* (files) {
      yield* recorded(files, Buffer.from("hello world"))
      return yield* readAll(files)
    },
    { isDelivering: false }
  )
  t.strictSame(await waits, expected)
  await using(() => kept)
  t.strictSame(await living(readAll), expected)
  t.match(emulator.requests("GET", /wav/), [{ range: "bytes=2-4", status: 206 }, { range: "bytes=0-10" }, { range: "bytes=0-10" }])
})

t.test("given a file that is opened while it waits, when the bucket gets it before it is read, then it is read from there", async (t) => {
  const { kept, living } = await bucket(t)
  const part = await living(function* (files) {
    yield* recorded(files, Buffer.from("hello"))
    const file = yield* files.open(key)
    yield* kept
    return Buffer.concat(yield* Stream.runCollect(file.read(0, 5))).toString()
  })
  t.equal(part, "hello")
})

t.test("given a large file, then it is stored in parts, completely", async (t) => {
  const { emulator, inBucket, stores } = await bucket(t)
  const bytes = Buffer.alloc(20 * 1024 * 1024)
  for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(at, at)
  await stores(bytes)
  t.equal(inBucket()?.compare(bytes), 0)
  t.equal(emulator.log.filter(({ query }) => query["partNumber"] !== undefined).length, 3)
})

t.test("given a file, when it is overwritten, then its readers and the bucket get the new bytes", async (t) => {
  const { inBucket, kept, living, using } = await bucket(t)
  const bytes = await living(function* (files) {
    yield* files.write(key, Buffer.from("old"))
    yield* kept
    yield* files.write(key, Buffer.from("new"))
    return text(yield* files.read(key))
  })
  t.equal(bytes, "new")
  await using(() => seen("new bytes", () => text(inBucket()) === "new"))
})

/** Lets the bucket hold back its answers to requests that store a recording, until the returned function is called. */
const holdRecording = ({ emulator }: Pick<Awaited<ReturnType<typeof bucket>>, "emulator">): (() => void) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  emulator.hold = ({ method, key }) => (method === "PUT" && key.endsWith(".wav") ? promise : undefined)
  return resolve
}

t.test("given a file that is being stored, when it is overwritten, then the bucket has the new bytes in the end", async (t) => {
  const { emulator, inBucket, kept, living } = await bucket(t)
  const go = holdRecording({ emulator })
  await living(function* (files) {
    yield* recorded(files, Buffer.from("old"))
    yield* seen("transfer", () => emulator.requests("PUT", /wav/).length === 1)
    yield* files.write(key, Buffer.from("new"))
    go()
    yield* kept
  })
  t.equal(text(inBucket()), "new")
})

t.test("given a file that is being stored, when it is removed, then it does not come back", async (t) => {
  const { emulator, inBucket, living, waiting } = await bucket(t)
  const go = holdRecording({ emulator })
  await living(function* (files) {
    yield* recorded(files, Buffer.from("hello"))
    yield* seen("transfer", () => emulator.requests("PUT", /wav/).length === 1)
    const removal = yield* Effect.forkChild(files.remove(key))
    yield* seen("file gone from here", async () => (await waiting()).length === 0)
    go()
    yield* seen("removal", () => emulator.requests("DELETE", /wav/).length === 1)
    yield* Fiber.join(removal)
  })
  t.equal(inBucket(), undefined)
})

t.test("given invalid keys, then no request is sent", async (t) => {
  const { emulator, using } = await bucket(t)
  const tags = await using((files) =>
    Effect.forEach(["../etc/passwd", "a", "recordings/.hidden", "recordings/-rf"], (bad) =>
      Effect.all([tagOf(files.read(bad)), tagOf(files.open(bad)), tagOf(files.remove(bad)), tagOf(Effect.scoped(files.localCopy(bad)))])
    )
  )
  t.ok(tags.flat().every((tag) => tag === "FileKeyRefused"))
  t.ok(emulator.log.every(({ key }) => key.startsWith("kept/probe/")))
})

t.test("given files that a former process has left, then the next one stores them, and forgets what was never completed", async (t) => {
  const { folder, inBucket, kept, using } = await bucket(t)
  const old = join(folder, "growing", "recordings", ".0.part")
  await mkdir(dirname(old), { recursive: true })
  await writeFile(old, "x")
  await utimes(old, 1, 1)
  await using((files) => recorded(files, Buffer.from("left")), { isDelivering: false })
  await using(() =>
    Effect.andThen(
      kept,
      seen("nothing left over", () => !existsSync(old))
    )
  )
  t.equal(text(inBucket()), "left")
})

t.test("given an engine that stops, then files that it has just completed are stored first", async (t) => {
  const { inBucket, using } = await bucket(t)
  await using((files) => recorded(files, Buffer.from("last")))
  t.equal(text(inBucket()), "last")
})

t.test("given keys of the bucket, then no error and no output of the process contains them", async (t) => {
  const { emulator } = await bucket(t)
  const settings = await Effect.runPromise(read(emulator.environment()))
  t.notOk(JSON.stringify(settings).includes(emulator.keys.secretAccessKey))
  t.equal(Redacted.value(bucketKeys(settings).secretAccessKey), emulator.keys.secretAccessKey)
})
