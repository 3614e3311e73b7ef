/** All that agents use in a call. */
import { Layer } from "effect"
import { Credentials } from "./Credentials.ts"
import { Documents } from "./Documents.ts"
import { Recordings } from "./Recordings.ts"
import { ResourceUploads } from "./ResourceUploads.ts"
import { Tools } from "./Tools.ts"

export type Resources = Credentials | Documents | Recordings | ResourceUploads | Tools

export const layer = Layer.mergeAll(Tools.layer, Recordings.layer, Documents.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, ResourceUploads.layer))
)
