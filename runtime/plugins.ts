/** Loads the adapters that ADAPTERS names: built-in ones, and npm packages that default-export one, which are checked first. */
import { Effect, Layer, Schema } from "effect"
import { createRequire, registerHooks } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { builtIn } from "#adapters/index.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { Registry } from "#core/provider/Registry.ts"
import { askingAdapter } from "./trunk/askingAdapter.ts"
import { Config } from "./config/config.ts"

/** The message names the adapter and its fault. */
class BadAdapter extends Schema.TaggedError<BadAdapter>()("BadAdapter", { message: Schema.String }) {}

/** An adapter from npm imports the contract by this name, wherever the engine is installed. */
const contractName = "trunkline/adapter"
const contractUrl = new URL("../core/provider/pluginExport.ts", import.meta.url).href
const nameContract = Effect.acquireRelease(
  Effect.sync(() =>
    registerHooks({
      resolve: (specifier, context, next) =>
        specifier === contractName ? { shortCircuit: true, url: contractUrl } : next(specifier, context)
    })
  ),
  (hooks) => Effect.sync(() => hooks.deregister())
)

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { adapters } = yield* Config
    yield* nameContract
    const loaded = yield* Effect.forEach(adapters, load)
    const names = loaded.map((adapter) => adapter.manifest.provider)
    const twice = names.find((name, at) => names.indexOf(name) !== at)
    if (twice !== undefined) return yield* new BadAdapter({ message: `ADAPTERS names two adapters for the provider ${twice}` })
    return Registry.layerOf(loaded)
  })
)

const load = Effect.fnUntraced(function* (name: string) {
  const shipped = builtIn.find((adapter) => adapter.manifest.provider === name)
  if (shipped !== undefined) return shipped
  const found = yield* Effect.tryPromise({
    try: async (): Promise<unknown> => import(resolved(name)),
    catch: () =>
      new BadAdapter({
        message: `ADAPTERS names ${name}, which is neither a built-in adapter (${builtIn.map((a) => a.manifest.provider).join(", ")}) nor an installed package that loads`
      })
  })
  const adapter = typeof found === "object" && found !== null && "default" in found ? found.default : undefined
  const wrong = faultOf(adapter)
  if (wrong !== undefined) return yield* new BadAdapter({ message: `The package ${name} is not an adapter for this engine: ${wrong}` })
  // Cast: `faultOf` has checked every part of the contract that can be checked before connecting.
  return askingAdapter(adapter as Adapter)
})

// Operators install packages beside the engine, in the folder from which it is started.
const resolved = (name: string) => pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href

const providerName = /^[a-z0-9_]{1,32}$/

/** Why a package's default export is not an adapter; undefined when it is one. */
const faultOf = (candidate: unknown): string | undefined => {
  if (!isRecord(candidate)) return "it has no default export"
  const { connect, fields, manifest } = candidate
  if (!isRecord(manifest)) return "it has no manifest"
  if (manifest["contract"] !== 2) return `it follows version ${String(manifest["contract"])} of the adapter contract, not 2`
  if (typeof manifest["provider"] !== "string" || !providerName.test(manifest["provider"])) return "its provider name is not [a-z0-9_]"
  if (typeof manifest["callsPerSecond"] !== "number" || !(manifest["callsPerSecond"] > 0))
    return "its callsPerSecond is not a positive number"
  if (typeof manifest["originatesInFlight"] !== "number" || !(manifest["originatesInFlight"] >= 1))
    return "its originatesInFlight is below 1"
  if (!isRecord(fields)) return "it has no fields"
  return typeof connect === "function" ? undefined : "it has no connect function"
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
