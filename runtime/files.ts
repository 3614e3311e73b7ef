/** The file store that the settings select. */
import { Effect, Layer, Redacted } from "effect"
import { join } from "node:path"
import { Config, type Settings } from "./config/config.ts"
import { Files } from "./storage/Files.ts"
import * as s3 from "./storage/s3/S3Files.ts"

/** A bucket always comes with both, or the engine does not start. */
const none = Redacted.make("")

export const bucketKeys = ({ awsAccessKeyId, awsSecretAccessKey, awsSessionToken }: Settings) => ({
  accessKeyId: awsAccessKeyId ?? none,
  secretAccessKey: awsSecretAccessKey ?? none,
  sessionToken: awsSessionToken
})

export const layer = Layer.unwrap(
  Effect.map(Config, (settings) => {
    const { dataDir, filesDir, filesUrl } = settings
    return filesUrl === undefined
      ? Files.layerLocal(filesDir ?? join(dataDir, "files"))
      : s3.layer({ address: filesUrl, keys: bucketKeys(settings), folder: join(dataDir, "outbox") })
  })
)
