/** `/folder`: folders of agents. */
import Type, { type Static } from "typebox"
import type { Folder, FolderId } from "#core/folder/Folder.ts"
import { id, instant } from "#gateway/request/Field.ts"

export const FolderPath = Type.Object({ folder_id: id<FolderId>() })

export const FolderInput = Type.Object(
  {
    name: Type.Refine(
      Type.String({ minLength: 1, maxLength: 100, description: "Unique in the organization. Surrounding spaces are removed." }),
      (name) => name.trim() !== "",
      () => "Folder name must not be blank"
    )
  },
  { title: "FolderInput" }
)

export const FolderWire = Type.Object({ id: id<FolderId>(), name: Type.String(), created_at: instant() }, { title: "Folder" })

export const folderWire = (folder: Folder): Static<typeof FolderWire> => ({
  id: folder.id,
  name: folder.name,
  created_at: folder.createdAt.toISOString()
})
