/** The folders of an organization. Names are unique within it. */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import { refusedAs } from "#core/uniqueness.ts"
import { type Folder, type FolderId, FolderNameTaken, FolderNotFound } from "./Folder.ts"
import * as store from "./FolderStore.ts"

export class Folders extends Context.Service<
  Folders,
  {
    /** Sorted by name. */
    readonly list: (organizationId: OrganizationId, page: Page) => Effect.Effect<ReadonlyArray<Folder>>
    readonly create: (organizationId: OrganizationId, name: string) => Effect.Effect<Folder, FolderNameTaken>
    readonly rename: (organizationId: OrganizationId, id: FolderId, name: string) => Effect.Effect<Folder, FolderNotFound | FolderNameTaken>
    /** The folder's agents stay, without a folder. */
    readonly remove: (organizationId: OrganizationId, id: FolderId) => Effect.Effect<void, FolderNotFound>
  }
>()("core/folder/Folders") {
  static readonly layer = Layer.effect(
    Folders,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return Folders.of({
        list: Effect.fn("Folders.list")((organizationId, page) => Effect.orDie(store.list(sql, organizationId, page))),
        create: Effect.fn("Folders.create")(function* (organizationId, name) {
          const [folder] = yield* named(name, store.insert(sql, organizationId, name))
          return folder ?? (yield* Effect.die("An inserted folder was not returned"))
        }),
        rename: Effect.fn("Folders.rename")(function* (organizationId, id, name) {
          const [folder] = yield* named(name, store.rename(sql, organizationId, id, name))
          return folder ?? (yield* new FolderNotFound({ id }))
        }),
        remove: Effect.fn("Folders.remove")(function* (organizationId, id) {
          if (!(yield* Effect.orDie(store.remove(sql, organizationId, id)))) return yield* new FolderNotFound({ id })
        })
      })
    })
  )
}

const named = <A>(name: string, written: Effect.Effect<A, SqlError.SqlError>) =>
  written.pipe(refusedAs({ folders_name: () => new FolderNameTaken({ name }) }), Effect.catchTag("SqlError", Effect.die))
