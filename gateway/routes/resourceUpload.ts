/** /api/v1/resource-uploads: where the bytes of recordings and documents are put. */
import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import Type from "typebox"
import { ResourceUploads } from "#core/resource/ResourceUploads.ts"
import { BodyTooLarge } from "../Endpoint.ts"
import { FileStore } from "../FileStore.ts"
import { tagged, upload } from "../Route.ts"
import { Uploaded } from "../wire/File.ts"
import { maxDocumentBytes } from "../wire/Knowledge.ts"

/** Counts and hashes what passes, and ends where there is too much of it. */
const measured = (limit: number) => {
  const digest = createHash("sha256")
  let received = 0
  return {
    hash: () => digest.digest("hex"),
    through: <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | BodyTooLarge> =>
      Stream.mapEffect(bytes, (chunk) => {
        received += chunk.byteLength
        if (received > limit) return Effect.fail(new BodyTooLarge({ limit }))
        digest.update(chunk)
        return Effect.succeed(chunk)
      })
  }
}

export const resourceUploadRoutes = tagged("Files", [
  upload({
    method: "put",
    path: "/api/v1/resource-uploads/:token",
    name: "putResourceUpload",
    summary: "Upload the bytes of a recording or a document",
    description: "To the address that was given out, until it expires or the recording or document is made. The last upload counts.",
    access: "none",
    params: Type.Object({ token: Type.String() }),
    query: Type.Object({ key: Type.String() }),
    mediaTypes: ["audio/wav", "audio/mpeg", "application/pdf", "text/plain", "application/octet-stream"],
    maxBytes: maxDocumentBytes,
    success: Uploaded,
    errors: ["UploadRefused", "BodyTooLarge"],
    handle: ({ body, params, query }) =>
      Effect.gen(function* () {
        const { key, maxBytes } = yield* ResourceUploads.use((_) => _.receive(query.key, params.token))
        const { hash, through } = measured(maxBytes)
        const sizeBytes = yield* FileStore.use((_) => _.write(key, through(body)))
        yield* ResourceUploads.use((_) => _.complete(key, { sizeBytes, fileHash: hash() }))
        return { file_key: key, file_size: sizeBytes }
      })
  })
])
