/** Stored files can be read only by the engine's own user, and have names that nobody can guess. */
import { Effect, Layer, Stream } from "effect"
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import t, { type Test } from "tap"
import { FileStore } from "#gateway/ports/FileStore.ts"
import { CallFiles } from "#runtime/storage/CallFiles.ts"
import { Files } from "#runtime/storage/Files.ts"
import { startRecording } from "#runtime/voice/Recording.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { untilTrue } from "#test/support/until.ts"

const database = await openDatabase(t)
const folder = temporaryFolder(t)
const modeOf = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8)
/** Checks that these files are all that there is below, and that only the engine's user may read them or enter their folders. */
const areClosed = (t: Test, root: string, ...files: ReadonlyArray<string>) => {
  const there = readdirSync(join(folder, root), { recursive: true, encoding: "utf8" })
  const isFile = (path: string) => /\.\w+$/.test(path)
  t.strictSame(there.filter(isFile).toSorted(), files)
  for (const path of ["", ...there]) t.equal(modeOf(join(root, path)), isFile(path) ? "600" : "700", path)
}

t.test("given files of an earlier version, when the engine starts, then others can no longer read any of them", async (t) => {
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, "old", "campaigns", "1"), { recursive: true, mode: 0o755 })
  mkdirSync(join(folder, "old", "recordings"), { mode: 0o755 })
  writeFileSync(join(folder, "old", "campaigns", "1", "list.csv"), "x", { mode: 0o644 })
  writeFileSync(join(folder, "old", "recordings", "1.wav"), "x", { mode: 0o644 })
  const read = Files.use((files) => files.read("recordings/1.wav")).pipe(
    Effect.tap(() =>
      Effect.promise(() => untilTrue("closed files", () => modeOf("old/recordings") === "700" && modeOf("old/campaigns") === "700"))
    ),
    Effect.provide(Files.layerLocal(join(folder, "old")))
  )
  t.equal(Buffer.from(await Effect.runPromise(read)).toString(), "x", "and the engine still can")
  areClosed(t, "old", "campaigns/1/list.csv", "recordings/1.wav")
  t.equal(modeOf("."), "755", "the folder above stays as it was: Postgres may have to pass through it")
})

t.test("given a file, however it is stored, then others cannot read it, nor enter its folder", async (t) => {
  const stored = Effect.gen(function* () {
    const files = yield* Files
    yield* files.write("transcripts/1.txt", Buffer.from("x"))
    yield* FileStore.use((store) => store.write("campaigns/1/list.csv", Stream.make(Buffer.from("x")))).pipe(
      Effect.provide(FileStore.layerOf(files))
    )
    yield* startRecording(yield* files.path("recordings/1.wav")).close
  })
  await Effect.runPromise(stored.pipe(Effect.provide(Files.layerLocal(join(folder, "new")))))
  areClosed(t, "new", "campaigns/1/list.csv", "recordings/1.wav", "transcripts/1.txt")
})

t.test("given the names of a call's files, then they are the same at every start, and reveal nothing of another call's", async (t) => {
  const names = await database.run(function* () {
    const asked = CallFiles.use((files) => Effect.succeed([files.recording(7), files.transcript(7), files.recording(8)])).pipe(
      Effect.provide(Layer.fresh(CallFiles.layer))
    )
    return [yield* asked, yield* asked] as const
  })
  t.strictSame(names[0], names[1])
  const [recording = "", transcript = "", other = ""] = names[0]
  t.match(recording, /^recordings\/7-[\w-]{22}\.wav$/)
  t.match(transcript, /^transcripts\/7-[\w-]{22}\.txt$/)
  t.not(recording.slice(13), other.slice(13))
  t.not(recording.slice(13, 35), transcript.slice(14, 36))
})
