/** The addresses that carriers are given: the engine opens those that it created, and no others. */
import { Effect, Layer } from "effect"
import t from "tap"
import { CallId, TelephonyConfigId } from "#core/Id.ts"
import { Config } from "#runtime/config/config.ts"
import { CallbackAddresses, layer } from "#runtime/trunk/CallbackAddresses.ts"
import { openDatabase } from "#test/support/postgres.ts"

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
const partsOf = (url = "") => {
  const [configuration = "", call = "", kind = "", seal = ""] = new URL(url).pathname.split("/").slice(4)
  return { call, configuration, kind, seal }
}
const mediaPartsOf = (url = "") => {
  const [call = "", seal = ""] = new URL(url).pathname.split("/").slice(4)
  return { call, seal }
}
const otherSeal = (seal: string) => (seal.startsWith("A") ? "B" : "A") + seal.slice(1)

t.test("given the address of a call", async (t) => {
  const { open, urlOf } = await started()
  const url = urlOf?.({ callId, configurationId, kind: "status" })
  const parts = partsOf(url)

  t.test("when it is requested, also after a restart, then it names the call", async (t) => {
    const named = { callId, configurationId, kind: "status", url }
    t.strictSame([open(parts), (await started()).open(parts)], [named, named])
  })

  t.test("when any part of it is another one, then it is not ours", async (t) => {
    const others = { call: otherId, configuration: "4", kind: "answer", seal: otherSeal(parts.seal) }
    for (const [name, other] of Object.entries(others)) t.equal(open({ ...parts, [name]: other }), undefined, name)
    t.equal(open({ ...parts, call: "-" }), undefined, "no call")
    for (const seal of ["", parts.seal.slice(1), `${parts.seal}A`]) t.equal(open({ ...parts, seal }), undefined, JSON.stringify(seal))
  })
})

t.test("given the address of a call's media", async (t) => {
  const { mediaUrlOf, open, openMedia, urlOf } = await started()
  const parts = mediaPartsOf(mediaUrlOf?.(callId))

  t.test("when it is opened, then it names the call", async (t) => {
    t.equal(openMedia(parts), callId)
    t.match(mediaUrlOf?.(callId), /^wss:\/\/calls\.example\//)
  })

  t.test("when its call or its seal is another one, then it is not ours", async (t) => {
    t.equal(openMedia({ ...parts, call: otherId }), undefined)
    t.equal(openMedia({ ...parts, seal: otherSeal(parts.seal) }), undefined)
  })

  t.test("when a callback's seal is used for media, or that of media for a callback, then neither opens", async (t) => {
    const callback = partsOf(urlOf?.({ callId, configurationId, kind: "status" }))
    t.equal(openMedia({ call: callId, seal: callback.seal }), undefined)
    t.equal(open({ ...callback, seal: parts.seal }), undefined)
  })
})
