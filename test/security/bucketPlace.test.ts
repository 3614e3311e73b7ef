/** The operator's bucket is out of reach of organizations, even where they may connect to private addresses, unless it is a public one. */
import { Effect, Layer, Redacted } from "effect"
import t from "tap"
import { Config } from "#runtime/config/config.ts"
import { OwnPlaces } from "#runtime/egress/OwnPlaces.ts"
import { DatabasePlace } from "#runtime/postgres/postgres.ts"
import { runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const database = DatabasePlace.layerOf(Redacted.make("postgres://u:p@127.0.0.1:5432/x"))
const keys = { AWS_ACCESS_KEY_ID: "AKIAX", AWS_SECRET_ACCESS_KEY: "x" }

/** Whether each `address port` is one of the engine's own, after its names have been looked up. */
const ownOf = (filesUrl: string, known: string, ...asked: ReadonlyArray<string>) => {
  const settings = Layer.orDie(Config.layerOf({ PORT: "8000", METRICS: "off", FILES_URL: filesUrl, ...keys }))
  return runLive(
    Effect.gen(function* () {
      const own = yield* OwnPlaces
      const has = (place: string) => {
        const [address = "", port] = place.split(" ")
        return own.has(address, Number(port))
      }
      yield* Effect.promise(() => untilTrue("lookup", () => has(known)))
      return asked.map(has)
    }).pipe(Effect.provide(OwnPlaces.layer.pipe(Layer.provide([settings, database]))))
  )
}

t.test("given a bucket on this machine, then it is out of reach by each of its addresses, and nothing else is", async (t) => {
  const [bySix, byOther, other, elsewhere] = await ownOf(
    "s3://calls?endpoint=http://localhost:9000",
    "127.0.0.1 9000",
    "::1 9000",
    "127.0.0.2 9000",
    "127.0.0.1 9001",
    "10.0.0.9 9000"
  )
  t.strictSame([bySix, byOther, other, elsewhere], [true, true, false, false])
})

t.test("given a bucket in a private network, then it is out of reach, and its neighbours are not", async (t) => {
  t.strictSame(await ownOf("s3://calls?endpoint=http://10.1.2.3:443", "10.1.2.3 443", "10.1.2.4 443", "10.1.2.3 8443"), [false, false])
})

t.test("given a bucket of AWS, then private addresses are unaffected", async (t) => {
  t.strictSame(await ownOf("s3://calls", "127.0.0.1 8000", "10.1.2.3 443", "127.0.0.1 443"), [false, false])
})
