/** The operator's bucket is out of reach of organizations, even where they may connect to private addresses, unless it is a public one. */
import { Effect, Layer, Redacted } from "effect"
import t from "tap"
import { Config } from "#runtime/config/config.ts"
import { OwnPlaces } from "#runtime/egress/OwnPlaces.ts"
import { DatabaseServer } from "#runtime/postgres/DatabaseServer.ts"
import { runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const database = Layer.orDie(DatabaseServer.layerOf(Redacted.make("postgres://u:p@127.0.0.1:5432/x")))
const keys = { AWS_ACCESS_KEY_ID: "AKIAX", AWS_SECRET_ACCESS_KEY: "x" }

/** Whether an `address port` is one of the engine's own, once its names have been looked up and `known` is one. */
const isOwnPlace = (filesUrl: string, known: string, asked: string) => {
  const settings = Layer.orDie(Config.layerOf({ PORT: "8000", METRICS: "off", FILES_URL: filesUrl, ...keys }))
  return runLive(
    Effect.gen(function* () {
      const own = yield* OwnPlaces
      const has = (place: string) => {
        const [address = "", port] = place.split(" ")
        return own.has(address, Number(port))
      }
      yield* Effect.promise(() => untilTrue("lookup", () => has(known)))
      return has(asked)
    }).pipe(Effect.provide(OwnPlaces.layer.pipe(Layer.provide([settings, database]))))
  )
}

for (const [bucket, endpoint, known, place, isOwn] of [
  ["a bucket on this machine", "?endpoint=http://localhost:9000", "127.0.0.1 9000", "::1 9000", true],
  ["a bucket on this machine", "?endpoint=http://localhost:9000", "127.0.0.1 9000", "127.0.0.2 9000", true],
  ["a bucket on this machine", "?endpoint=http://localhost:9000", "127.0.0.1 9000", "127.0.0.1 9001", false],
  ["a bucket on this machine", "?endpoint=http://localhost:9000", "127.0.0.1 9000", "10.0.0.9 9000", false],
  ["a bucket in a private network", "?endpoint=http://10.1.2.3:443", "10.1.2.3 443", "10.1.2.4 443", false],
  ["a bucket in a private network", "?endpoint=http://10.1.2.3:443", "10.1.2.3 443", "10.1.2.3 8443", false],
  ["a bucket of AWS", "", "127.0.0.1 8000", "10.1.2.3 443", false],
  ["a bucket of AWS", "", "127.0.0.1 8000", "127.0.0.1 443", false]
] as const) {
  t.test(`given ${bucket}, then ${place} is ${isOwn ? "out of reach like it" : "unaffected"}`, async (t) => {
    t.equal(await isOwnPlace(`s3://calls${endpoint}`, known, place), isOwn)
  })
}
