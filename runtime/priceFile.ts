/** Reads the prices that the operator has stated. A file that cannot be used prevents the start. */
import { Effect, Layer, Result, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { parseJson } from "#core/parseJson.ts"
import { PriceFile } from "#core/usage/Price.ts"
import { InstallationPrices } from "#core/usage/ServicePrices.ts"
import { Config } from "./config/config.ts"

class BadPriceFile extends Schema.TaggedError<BadPriceFile>()("BadPriceFile", { message: Schema.String }) {}

const decode = Schema.decodeUnknownResult(PriceFile, { errors: "all", onExcessProperty: "error" })

const read = Effect.fnUntraced(function* (path: string) {
  const refused = (why: string) => new BadPriceFile({ message: `PRICES_FILE names ${path}, which ${why}` })
  const text = yield* Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: () => refused("cannot be read") })
  const parsed = parseJson(text)
  if (parsed === undefined) return yield* refused("holds no JSON")
  const decoded = decode(parsed)
  if (Result.isFailure(decoded)) return yield* refused(`is no list of prices:\n${decoded.failure.message}`)
  return decoded.success.prices
})

export const layer = Layer.effect(
  InstallationPrices,
  Effect.flatMap(Config, ({ pricesFile }) => (pricesFile === undefined ? Effect.succeed([]) : read(pricesFile)))
)
