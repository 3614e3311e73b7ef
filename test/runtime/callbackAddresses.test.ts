/** The addresses that carriers are given: the engine opens those that it created, and no others. */
import { Effect, Layer } from "effect"
import t from "tap"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import { Config } from "#runtime/config/config.ts"
import { CallbackAddresses, layer } from "#runtime/trunk/CallbackAddresses.ts"
import { openDatabase } from "#test/support/postgres.ts"
import { twinText } from "#test/support/twinText.ts"

const database = await openDatabase(t)
/** Those of one start of the engine. */
const started = () =>
  database.run(
    Effect.gen(function* () {
      return yield* CallbackAddresses
    }).pipe(Effect.provide(Layer.fresh(layer).pipe(Layer.provide(Layer.orDie(Config.layerOf({ PUBLIC_URL: "https://calls.example" }))))))
  )

const callId = CallId.make("01890000-0000-7000-8000-000000000001")
const otherId = CallId.make("01890000-0000-7000-8000-000000000002")
const configurationId = TelephonyConfigId.make(3)

/** The parts of the path, as the gateway reads them. */
const pathOf = (url = "") => new URL(url).pathname.split("/").slice(4)
const partsOf = (url?: string) => {
  const [configuration = "", call = "", kind = "", seal = ""] = pathOf(url)
  return { call, configuration, kind, seal }
}
const otherSeal = (seal: string) => (seal.startsWith("A") ? "B" : "A") + seal.slice(1)

const { mediaUrlOf, open, openMedia, urlOf } = await started()
const url = urlOf?.({ callId, configurationId, kind: "status" })
const parts = partsOf(url)
const [call = "", mediaSeal = ""] = pathOf(mediaUrlOf?.(callId))

t.test("given the address of a call", async (t) => {
  t.test("when it is requested, also after a restart, then it names the call", async (t) => {
    const named = { callId, configurationId, kind: "status", url }
    t.strictSame([open(parts), (await started()).open(parts)], [named, named])
  })
  t.test("when any part of it is another one, then it is not ours", async (t) => {
    const others = { call: otherId, configuration: "4", kind: "answer", seal: otherSeal(parts.seal) }
    for (const [name, other] of Object.entries(others)) t.equal(open({ ...parts, [name]: other }), undefined, name)
    t.equal(open({ ...parts, call: "-" }), undefined, "no call")
    for (const seal of ["", parts.seal.slice(1), `${parts.seal}A`, twinText(parts.seal), mediaSeal])
      t.equal(open({ ...parts, seal }), undefined, seal)
  })
})

t.test("given the address of a call's media, then it names the call, and no other address does", async (t) => {
  t.equal(openMedia({ call, seal: mediaSeal }), callId)
  t.match(mediaUrlOf?.(callId), /^wss:\/\/calls\.example\//)
  t.equal(openMedia({ call: otherId, seal: mediaSeal }), undefined)
  for (const seal of [otherSeal(mediaSeal), twinText(mediaSeal)]) t.equal(openMedia({ call, seal }), undefined)
  t.equal(openMedia({ call, seal: parts.seal }), undefined, "a callback's seal")
})
