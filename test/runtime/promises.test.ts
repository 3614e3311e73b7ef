/** What clients were promised, according to the journals of former processes. */
import { Effect, Layer } from "effect"
import t from "tap"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { CampaignId, OrganizationId } from "#core/Id.ts"
import { Sealer } from "#core/Sealer.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { layerOptOuts, Promises } from "#runtime/journal/Promises.ts"
import { run } from "#test/support/run.ts"

const [one, two, three] = [CampaignId.make(1), CampaignId.make(2), CampaignId.make(3)]
const organizationId = OrganizationId.make(7)
const [ada, bob] = ["+14155550001", "+14155550002"] as const

const sealerOf = (key: string) =>
  Layer.succeed(Sealer, {
    isSealed: (text) => text.startsWith(key),
    open: (_, sealed) => {
      if (!sealed.startsWith(key)) throw new Error("another key")
      return Buffer.from(sealed.slice(key.length), "hex").toString()
    },
    seal: (_, text) => `${key}${Buffer.from(text).toString("hex")}`
  })

/** A process whose predecessors have left these lines, and the lines that it writes. */
const processAfter = (promises: ReadonlyArray<string>, key = "key") => {
  const written: Array<string> = []
  // The cast holds because promises need nothing else of the journal.
  const journal = { promised: (text: string) => void written.push(text), promises } as unknown as LocalJournal["Service"]
  const layer = layerOptOuts.pipe(Layer.provideMerge(Promises.layer))
  return { layer: layer.pipe(Layer.provide([sealerOf(key), Layer.succeed(LocalJournal, journal)]), Layer.fresh), written }
}

const promisedBy = (layer: ReturnType<typeof processAfter>["layer"]) =>
  run(
    Effect.gen(function* () {
      const { optedOut, stopped } = yield* (yield* Promises).former
      return { optedOut: [...optedOut].map(([id, numbers]) => [id, [...numbers]]), stopped: [...stopped] }
    }).pipe(Effect.provide(layer))
  )

t.test("given what a process has promised", async (t) => {
  const first = processAfter([])
  await run(
    Effect.gen(function* () {
      const { note } = yield* Promises
      const optOuts = yield* RecentOptOuts
      note({ _tag: "Stopped", dialEpoch: 4, id: one })
      note({ _tag: "Stopped", dialEpoch: 1, id: two })
      note({ _tag: "Started", id: two })
      note({ _tag: "Stopped", dialEpoch: null, id: three })
      optOuts.add(organizationId, [ada, bob])
      optOuts.remove(organizationId, ada)
      t.strictSame([optOuts.has(organizationId, ada), optOuts.has(organizationId, bob)], [false, true], "then its memory has it")
    }).pipe(Effect.provide(first.layer))
  )
  t.notOk(first.written.some((text) => text.includes(bob) || text.includes(" ")))
  t.strictSame(
    await promisedBy(processAfter(first.written).layer),
    {
      optedOut: [[7, [bob]]],
      stopped: [
        [one, 4],
        [three, null]
      ]
    },
    "then the next one knows what still holds"
  )
  t.strictSame(await promisedBy(processAfter(first.written, "other").layer), { optedOut: [], stopped: [] }, "but not without the key")
})
