/** The store of files that the settings name. What speaks to a bucket is loaded for a bucket alone. */
import { Effect, Layer, Redacted } from "effect"
import { join } from "node:path"
import { Config, type Settings } from "./config/config.ts"
import { Files } from "./storage/Files.ts"

/** The setting of a bucket has both, or the start ends before. */
const none = Redacted.make("")

export const bucketKeys = ({ awsAccessKeyId, awsSecretAccessKey, awsSessionToken }: Settings) => ({
  accessKeyId: awsAccessKeyId ?? none,
  secretAccessKey: awsSecretAccessKey ?? none,
  sessionToken: awsSessionToken
})

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* Config
    const { dataDir, filesDir, filesUrl } = settings
    if (filesUrl === undefined) return Files.layerLocal(filesDir ?? join(dataDir, "files"))
    const s3 = yield* Effect.promise(() => import("./storage/s3/S3Files.ts"))
    return s3.layer({ address: filesUrl, keys: bucketKeys(settings), folder: join(dataDir, "outbox") })
  })
)
