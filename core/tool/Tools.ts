/** The tools of an organization. Tools are never deleted, because agents may still refer to them. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { fitting, type Page, type Part } from "#core/Page.ts"
import type { UserId } from "#core/organization/Caller.ts"
import { Sealer } from "#core/Sealer.ts"
import type { CredentialNotFound } from "#core/credential/Credential.ts"
import { CredentialHostRefused, usesInTool } from "#core/credential/CredentialHosts.ts"
import { Credentials } from "#core/credential/Credentials.ts"
import { settle } from "#core/credential/credentialUses.ts"
import { credentialsIn, type Tool, type ToolCategory, type ToolDefinition, ToolNotFound, type ToolStatus } from "./Tool.ts"
import * as store from "./ToolStore.ts"
import { isUuid } from "#core/Uuid.ts"

export interface NewTool {
  readonly name: string
  readonly description?: string | undefined
  readonly icon?: string | undefined
  readonly iconColor?: string | undefined
  readonly definition: ToolDefinition
  readonly createdBy?: UserId | undefined
}

/** Omitted fields stay unchanged. The category follows the definition. */
export interface ToolChanges {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly icon?: string | undefined
  readonly iconColor?: string | undefined
  readonly status?: ToolStatus | undefined
  readonly definition?: ToolDefinition | undefined
}

export interface ToolFilter {
  /** Omitted: all but archived tools. */
  readonly statuses?: ReadonlyArray<ToolStatus> | undefined
  readonly category?: ToolCategory | undefined
}

const shownUnasked: ReadonlyArray<ToolStatus> = ["active", "draft"]

export class Tools extends Context.Service<
  Tools,
  {
    /** Fails when the definition names a credential that is not the organization's, or sends it to a host that is not allowed. */
    readonly create: (organizationId: OrganizationId, tool: NewTool) => Effect.Effect<Tool, CredentialHostRefused | CredentialNotFound>
    /** Sorted by name. */
    readonly list: (organizationId: OrganizationId, filter: ToolFilter, page: Page) => Effect.Effect<Part<Tool>>
    readonly get: (organizationId: OrganizationId, uuid: string) => Effect.Effect<Tool, ToolNotFound>
    readonly update: (
      organizationId: OrganizationId,
      uuid: string,
      changes: ToolChanges
    ) => Effect.Effect<Tool, CredentialHostRefused | CredentialNotFound | ToolNotFound>
    readonly archive: (organizationId: OrganizationId, uuid: string) => Effect.Effect<Tool, ToolNotFound>
    readonly unarchive: (organizationId: OrganizationId, uuid: string) => Effect.Effect<Tool, ToolNotFound>
  }
>()("core/tool/Tools") {
  static readonly layer = Layer.effect(
    Tools,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealing = Effect.provideService(Sealer, yield* Sealer)
      const credentials = yield* Credentials
      const get = Effect.fnUntraced(function* (organizationId: OrganizationId, uuid: string) {
        const found = isUuid(uuid) ? yield* sealing(Effect.orDie(store.find(sql, organizationId, uuid))) : undefined
        return found ?? (yield* new ToolNotFound({ uuid }))
      })
      /** Checks the credentials before the tool is stored; they are checked again whenever they are sent. */
      const settled = Effect.fnUntraced(function* (organizationId: OrganizationId, definition: ToolDefinition) {
        yield* credentials.mustHave(organizationId, credentialsIn(definition))
        const [refused] = yield* Effect.orDie(settle(sql, organizationId, usesInTool(definition)))
        if (refused !== undefined) return yield* new CredentialHostRefused({ reason: refused.reason, path: refused.use.path.map(String) })
      })
      const change = ({ toolUuid }: Tool, organizationId: OrganizationId, changes: ToolChanges) => {
        const { definition = null, description = null, icon = null, iconColor = null, name = null, status = null } = changes
        return sealing(
          Effect.orDie(store.update(sql, organizationId, toolUuid, { name, description, icon, iconColor, status, definition }))
        )
      }
      const setStatus = Effect.fnUntraced(function* (organizationId: OrganizationId, uuid: string, status: ToolStatus) {
        const before = yield* get(organizationId, uuid)
        if (before.status !== status) yield* change(before, organizationId, { status })
        return yield* get(organizationId, uuid)
      })

      return Tools.of({
        create: Effect.fn("Tools.create")(function* (organizationId, tool) {
          yield* settled(organizationId, tool.definition)
          const { createdBy = null, definition, description = null, icon = null, iconColor = null, name } = tool
          const values = { name, description, icon, iconColor, definition, createdBy }
          const [row] = yield* sealing(Effect.orDie(store.insert(sql, organizationId, values)))
          if (row === undefined) return yield* Effect.die("An inserted tool was not returned")
          return yield* Effect.orDie(get(organizationId, row.toolUuid))
        }),
        list: Effect.fn("Tools.list")((organizationId, { category = null, statuses = shownUnasked }, page) =>
          sealing(fitting(page, (part) => Effect.orDie(store.list(sql, organizationId, { ...part, category, statuses }))))
        ),
        get: Effect.fn("Tools.get")(get),
        update: Effect.fn("Tools.update")(function* (organizationId, uuid, changes) {
          const before = yield* get(organizationId, uuid)
          if (changes.definition !== undefined) yield* settled(organizationId, changes.definition)
          yield* change(before, organizationId, changes)
          return yield* get(organizationId, uuid)
        }),
        archive: Effect.fn("Tools.archive")((organizationId, uuid) => setStatus(organizationId, uuid, "archived")),
        unarchive: Effect.fn("Tools.unarchive")((organizationId, uuid) => setStatus(organizationId, uuid, "active"))
      })
    })
  )
}
