/** Addresses of stored files that work for whoever has them, until they expire: nothing is kept of them, the signature says it all. */
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { LinkRefused } from "./Refusal.ts"

export interface FileLink {
  readonly key: string
  /** Epoch seconds. */
  readonly expires: number
  readonly isInline: boolean
}

export class FileLinks extends Context.Service<
  FileLinks,
  {
    /** The path, query included, from the root of the API's address. */
    readonly make: (link: Omit<FileLink, "expires"> & { readonly seconds: number }) => Effect.Effect<string>
    readonly check: (link: FileLink, signature: string) => Effect.Effect<void, LinkRefused>
  }
>()("gateway/FileLinks") {
  /** All nodes behind one address need the same secret. */
  static readonly layer = (secret: Redacted.Redacted): Layer.Layer<FileLinks> => Layer.succeed(FileLinks, linksOf(secret))
  /** For a single node: links end with the process. */
  static readonly layerRandom: Layer.Layer<FileLinks> = Layer.sync(FileLinks, () => linksOf(Redacted.make(randomBytes(32).toString("hex"))))
}

const linksOf = (secret: Redacted.Redacted): FileLinks["Service"] => {
  const sign = ({ expires, isInline, key }: FileLink): Buffer =>
    createHmac("sha256", Redacted.value(secret))
      .update(`${expires}\n${isInline ? 1 : 0}\n${key}`)
      .digest()
  return {
    make: ({ seconds, ...link }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const expires = Math.floor(now / 1000) + seconds
        const query = new URLSearchParams({
          key: link.key,
          expires: String(expires),
          inline: link.isInline ? "1" : "0",
          signature: sign({ ...link, expires }).toString("base64url")
        })
        return `/api/v1/files?${query}`
      }),
    check: (link, signature) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const expected = sign(link)
        const given = Buffer.from(signature, "base64url")
        const isOurs = given.length === expected.length && timingSafeEqual(given, expected)
        return isOurs && link.expires * 1000 > now ? Effect.void : Effect.fail(new LinkRefused())
      })
  }
}
