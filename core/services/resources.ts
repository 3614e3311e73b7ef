/** The services of everything that agents use in a call. */
import { Layer } from "effect"
import { Credentials } from "#core/credential/Credentials.ts"
import { Documents } from "#core/document/Documents.ts"
import { Recordings } from "#core/recording/Recordings.ts"
import { ResourceUploads } from "#core/file/ResourceUploads.ts"
import { Tools } from "#core/tool/Tools.ts"

export type Resources = Credentials | Documents | Recordings | ResourceUploads | Tools

export const layer = Layer.mergeAll(Tools.layer, Recordings.layer, Documents.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, ResourceUploads.layer))
)
