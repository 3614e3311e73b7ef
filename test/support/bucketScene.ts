/** Files in an emulated bucket, across several processes that run one after the other. */
import { Effect, Layer, Logger, References } from "effect"
import { existsSync } from "node:fs"
import { readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Test } from "tap"
import { read } from "#runtime/config/config.ts"
import { bucketKeys } from "#runtime/files.ts"
import { CurrentFileMetrics, FileMetrics } from "#runtime/metrics/FileMetrics.ts"
import { Files } from "#runtime/storage/Files.ts"
import * as s3 from "#runtime/storage/s3/S3Files.ts"
import { S3Emulator } from "#test/emulators/s3/S3Emulator.ts"
import { temporaryFolder } from "./dataFolder.ts"
import { runLive } from "./run.ts"
import { untilTrue } from "./until.ts"

export const key = "recordings/7-abcdefghijklmnopqrstuv.wav"

interface Life {
  /** Whether the process uploads pending files. */
  readonly isDelivering?: boolean
  readonly bucket?: string
  readonly keys?: Readonly<Record<string, string>>
}

export const openScene = async (t: Test) => {
  const emulator = await S3Emulator.start()
  t.teardown(() => emulator.stop())
  const folder = temporaryFolder(t)
  const metrics = new FileMetrics()
  /** What the processes have logged, with the reasons. */
  const said: Array<string> = []
  const logger = Logger.make(({ fiber, message }) => {
    const { reason } = fiber.getRef(References.CurrentLogAnnotations)
    said.push([[message].flat()[0], reason].filter((word) => word !== undefined).join(": "))
  })
  /** Runs one process, including its background work, for as long as `use` takes. */
  const living = async <A, E>(use: (files: Files["Service"]) => Effect.Effect<A, E>, how: Life = {}): Promise<A> => {
    const { bucket, isDelivering = true, keys = {} } = how
    const settings = await Effect.runPromise(read({ ...emulator.environment("kept", bucket), ...keys }))
    const address = settings.filesUrl
    if (address === undefined) throw new Error("no address")
    const layer = s3.layer({ address, keys: bucketKeys(settings), folder }).pipe(Layer.provide(Layer.succeed(CurrentFileMetrics, metrics)))
    const life = Effect.gen(function* () {
      const files = yield* Files
      if (isDelivering) yield* files.deliver
      return yield* use(files)
    })
    return await runLive(Effect.provide(life, layer.pipe(Layer.provideMerge(Logger.layer([logger])))))
  }
  const inBucket = (name = key) => emulator.objects.get(`kept/${name}`)?.bytes
  const kept = (name = key) => untilTrue("object", () => inBucket(name) !== undefined && metrics.waiting === 0)
  const waiting = async () =>
    existsSync(join(folder, "waiting"))
      ? (await readdir(join(folder, "waiting"), { recursive: true })).filter((name) => /\./.test(name))
      : []
  return { said, emulator, folder, inBucket, kept, living, metrics, waiting }
}

/** Writes the file in pieces, as a call does, and marks it as complete. */
export const recorded = Effect.fnUntraced(function* (files: Files["Service"], bytes: Uint8Array, name = key) {
  const path = yield* files.createWriter(name)
  yield* Effect.promise(() => writeFile(path, bytes))
  yield* files.keep(path, name)
})
