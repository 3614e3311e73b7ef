/** Files in an emulated bucket, with what most tests of it do. */
import { Effect } from "effect"
import type { Test } from "tap"
import type { Files } from "#runtime/storage/Files.ts"
import { openScene, recorded } from "#test/support/bucketScene.ts"
import { untilTrue } from "#test/support/until.ts"

export const seen = (what: string, holds: () => boolean | Promise<boolean>) => Effect.promise(() => untilTrue(what, holds))

export const bucket = async (t: Test) => {
  const scene = await openScene(t)
  /** Runs one process for as long as `use` takes. */
  const living = <A, E>(use: (files: Files["Service"]) => Effect.gen.Return<A, E>, how?: Parameters<typeof scene.living>[1]) =>
    scene.living((files) => Effect.gen(() => use(files)), how)
  const kept = Effect.promise(() => scene.kept())
  /** Stores a file in the bucket, as a call does. */
  const stores = (bytes: Uint8Array) =>
    living(function* (files) {
      yield* recorded(files, bytes)
      yield* kept
    })
  return { ...scene, kept, living, stores, using: scene.living }
}
