/** Links to stored files that work for anybody who has them, until they expire. They are not stored: the signature vouches for them. */
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import type { RunId } from "#core/Id.ts"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"
import { LinkRefused } from "#gateway/request/Refusal.ts"
import { runOfToken, runToken } from "./runToken.ts"

interface FileLink {
  readonly key: string
  /** When the link expires, in seconds since the epoch. */
  readonly expires: number
  readonly isInline: boolean
  /** The creator, as `LinkMakers` writes it; undefined for links that were made from the public token of a call. */
  readonly maker: string | undefined
}

export class FileLinks extends Context.Service<
  FileLinks,
  {
    /** Path and query of a link, from the root of the API's URL. */
    readonly make: (link: Omit<FileLink, "expires"> & { readonly seconds: number }) => Effect.Effect<string>
    readonly check: (link: FileLink, signature: string) => Effect.Effect<void, LinkRefused>
    /** The token of a run, which shows the run's files to anybody who has it, for three and a half to seven days. */
    readonly token: (id: RunId) => Effect.Effect<string>
    readonly runOf: (token: string) => Effect.Effect<RunId, LinkRefused>
  }
>()("gateway/file/FileLinks") {
  /** Links survive a restart, and work on every node. */
  static readonly layer = Layer.effect(
    FileLinks,
    Effect.map(
      InstallationSecrets.use((secrets) => secrets.get("file-links")),
      (secret) => linksOf(secret)
    )
  ).pipe(Layer.provide(InstallationSecrets.layer))
}

const linksOf = (secret: Redacted.Redacted): FileLinks["Service"] => {
  const sign = ({ expires, isInline, key, maker }: FileLink): string =>
    createHmac("sha256", Redacted.value(secret))
      .update(`${expires}\n${isInline ? 1 : 0}\n${key}${maker === undefined ? "" : `\n${maker}`}`)
      .digest("base64url")
  return {
    make: ({ seconds, ...link }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const expires = Math.floor(now / 1000) + seconds
        const query = new URLSearchParams({
          key: link.key,
          expires: String(expires),
          inline: link.isInline ? "1" : "0",
          ...(link.maker === undefined ? {} : { by: link.maker }),
          signature: sign({ ...link, expires })
        })
        return `/api/v1/files?${query}`
      }),
    check: (link, signature) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        // As text, because several texts decode to the same bytes.
        const [expected, given] = [Buffer.from(sign(link)), Buffer.from(signature)]
        const isOurs = given.length === expected.length && timingSafeEqual(given, expected)
        return isOurs && link.expires * 1000 > now ? Effect.void : Effect.fail(new LinkRefused())
      }),
    token: (id) => Effect.map(Clock.currentTimeMillis, (now) => runToken(Redacted.value(secret), id, now / 1000)),
    runOf: (token) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const id = runOfToken(Redacted.value(secret), token, now / 1000)
        return id === undefined ? Effect.fail(new LinkRefused()) : Effect.succeed(id)
      })
  }
}
