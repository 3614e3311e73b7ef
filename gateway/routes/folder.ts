/** /api/v1/folder: folders of agents. */
import { Effect } from "effect"
import Type from "typebox"
import { Folders } from "#core/folder/Folders.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import { listed, pageOf, PageQuery } from "#gateway/wire/Page.ts"
import { FolderInput, FolderPath, FolderWire, folderWire } from "#gateway/wire/Folder.ts"

export const folderRoutes = tagged({ name: "Folders", about: "Folders that agents are sorted into.", scope: "agents" }, [
  list({
    path: "/api/v1/folder/",
    name: "listFolders",
    summary: "List folders, by name",
    description: "Folders only sort agents for people: calls and permissions do not depend on them.",
    query: PageQuery,
    success: Type.Array(FolderWire),
    handle: ({ caller, query }) =>
      Folders.use((_) => _.list(caller.organizationId, pageOf(query))).pipe(
        Effect.map((folders) => listed(query, folders, (shown) => shown.map(folderWire)))
      )
  }),
  route({
    method: "post",
    path: "/api/v1/folder/",
    name: "createFolder",
    summary: "Create a folder",
    description: "Spaces around the name are dropped. 409 if the organization has a folder of this name.",
    body: FolderInput,
    success: FolderWire,
    errors: ["FolderNameTaken"],
    handle: ({ body, caller }) => Folders.use((_) => _.create(caller.organizationId, body.name.trim())).pipe(Effect.map(folderWire))
  }),
  route({
    method: "put",
    path: "/api/v1/folder/:folder_id",
    name: "renameFolder",
    summary: "Rename a folder",
    description: "The agents in it stay. 404 if there is no such folder, 409 if another one has the name.",
    params: FolderPath,
    body: FolderInput,
    success: FolderWire,
    errors: ["FolderNotFound", "FolderNameTaken"],
    handle: ({ body, caller, params }) =>
      Folders.use((_) => _.rename(caller.organizationId, params.folder_id, body.name.trim())).pipe(Effect.map(folderWire))
  }),
  route({
    method: "delete",
    path: "/api/v1/folder/:folder_id",
    name: "deleteFolder",
    summary: "Delete a folder",
    description: "Its agents stay, without a folder. 404 if the organization has no such folder.",
    params: FolderPath,
    success: Type.Object({ success: Type.Literal(true) }, { title: "FolderDeleted" }),
    errors: ["FolderNotFound"],
    handle: ({ caller, params }) =>
      Folders.use((_) => _.remove(caller.organizationId, params.folder_id)).pipe(Effect.as({ success: true as const }))
  })
])
