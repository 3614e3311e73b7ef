/** Credentials with their secrets, for the engine's own requests. They are read for every request and never cached. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { CredentialData, CredentialType } from "./Credential.ts"
import { Sealer } from "#core/Sealer.ts"
import * as store from "./CredentialStore.ts"
import { isUuid } from "#core/Uuid.ts"

export interface FoundCredential {
  readonly credentialType: CredentialType
  readonly data: CredentialData
  /** Before sending the credential, check these with `mayBeSentTo`. */
  readonly allowedHosts: ReadonlyArray<string>
}

export class CredentialSecrets extends Context.Service<
  CredentialSecrets,
  {
    /** Undefined when the organization has no such credential. */
    readonly find: (organizationId: OrganizationId, uuid: string) => Effect.Effect<FoundCredential | undefined>
  }
>()("core/credential/CredentialSecrets") {
  static readonly layer = Layer.effect(
    CredentialSecrets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealing = Effect.provideService(Sealer, yield* Sealer)
      return {
        find: (organizationId, uuid) => (isUuid(uuid) ? sealing(Effect.orDie(store.secretOf(sql, organizationId, uuid))) : Effect.undefined)
      }
    })
  )
}
