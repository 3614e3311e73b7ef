/** A folder of agents. An agent is in at most one folder. */
import { Schema } from "effect"

export const FolderId = Schema.Int.pipe(Schema.brand("FolderId"))
export type FolderId = typeof FolderId.Type

export interface Folder {
  readonly id: FolderId
  readonly name: string
  readonly createdAt: Date
}

export class FolderNotFound extends Schema.TaggedError<FolderNotFound>()("FolderNotFound", { id: Schema.Int }) {}
export class FolderNameTaken extends Schema.TaggedError<FolderNameTaken>()("FolderNameTaken", { name: Schema.String }) {}
