/** Secrets that the nodes of an installation share. The first node that needs one creates it, and it never changes. */
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { openedText, Sealer } from "#core/Sealer.ts"
import { newSecret } from "./Secret.ts"

export class InstallationSecrets extends Context.Service<
  InstallationSecrets,
  {
    /** Returns 43 characters, the same for the same name on every node and after every start. */
    readonly get: (name: string) => Effect.Effect<Redacted.Redacted>
  }
>()("core/organization/InstallationSecrets") {
  static readonly layer = Layer.effect(
    InstallationSecrets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const services = yield* Effect.context<SecureRandom.SecureRandom | Sealer>()
      return {
        get: Effect.fn("InstallationSecrets.get")((name) => get(sql, name).pipe(Effect.orDie, Effect.provideContext(services)))
      }
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const get = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, name: string) {
  const sealer = yield* Sealer
  const place = { of: "installation_secrets", organizationId: undefined, id: name }
  const secret = sealer.seal(place, yield* newSecret())
  yield* sql`INSERT INTO installation_secrets (name, secret) VALUES (${name}, ${secret}) ON CONFLICT (name) DO NOTHING`
  const [row] = yield* sql<{ readonly secret: string }>`SELECT secret FROM installation_secrets WHERE name = ${name}`
  return row === undefined ? yield* Effect.die("An inserted secret was not found") : Redacted.make(openedText(sealer, place, row.secret))
})
