/**
 * Loads an adapter from an npm package, and says what is wrong with one that cannot be used. Whatever the package and the engine share exists
 * once, wherever either of them is installed: it gets the engine's own contract and the engine's own `effect`.
 */
import { Effect, Schema } from "effect"
import { findPackageJSON, registerHooks } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Adapter } from "#core/provider/Adapter.ts"
import { isNormal, normalNames } from "#core/provider/Normal.ts"
import { attempt } from "./process/attempt.ts"

/** The message names the adapter and its fault. */
export class BadAdapter extends Schema.TaggedError<BadAdapter>()("BadAdapter", { message: Schema.String }) {}

/** The engine itself imports the contract's files directly. */
const contractName = "trunkline/adapter"
const contractUrl = new URL("../adapters/pluginExport.ts", import.meta.url).href
const isEffect = (specifier: string) => specifier === "effect" || specifier.startsWith("effect/")

/** Operators install packages beside the engine, in the folder from which it is started. */
const beside = () => pathToFileURL(join(process.cwd(), "package.json")).href
/** Marks the name of a package that is to be found there. */
const installed = "installed:"

/** Holds for packages that are loaded, and for what they load later. */
export const shareWithPackages = Effect.acquireRelease(
  Effect.sync(() =>
    registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier === contractName) return { shortCircuit: true, url: contractUrl }
        if (isEffect(specifier)) return next(specifier, { ...context, parentURL: import.meta.url })
        if (specifier.startsWith(installed)) return next(specifier.slice(installed.length), { ...context, parentURL: beside() })
        return next(specifier, context)
      }
    })
  ),
  (hooks) => Effect.sync(() => hooks.deregister())
)

export const isInstalled = (name: string): boolean => attempt(() => findPackageJSON(name, beside())) !== undefined

/** Needs `shareWithPackages`. The package's code runs here. */
export const loadPackage = Effect.fnUntraced(function* (name: string) {
  const loaded = yield* Effect.tryPromise({
    try: async (): Promise<unknown> => import(installed + name),
    catch: (error) => new BadAdapter({ message: `The package ${name} ${whyNotLoaded(error)}` })
  })
  const adapter = isRecord(loaded) ? loaded["default"] : undefined
  const wrong = faultOf(adapter)
  if (wrong !== undefined) return yield* new BadAdapter({ message: `The package ${name} is not an adapter for this engine: ${wrong}` })
  // Cast: `faultOf` has checked every part of the contract that can be checked before connecting.
  return adapter as Adapter
})

/** A file has an absolute path here, a package its name. */
const missingPackage = /Cannot find (?:package|module) '([^'./][^']*)'/

const whyNotLoaded = (error: unknown): string => {
  if (!(error instanceof Error)) return `fails while it loads: ${String(error)}`
  const [, missing] = missingPackage.exec(error.message) ?? []
  if (missing !== undefined) return `needs the package ${missing}, which is not installed`
  // With the stack, because it is the author who has to find the place.
  return `fails while it loads: ${error.stack ?? error.message}`
}

const providerName = /^[a-z0-9_]{1,32}$/

/** Why a package's default export is not an adapter; undefined when it is one. */
const faultOf = (candidate: unknown): string | undefined => {
  if (candidate === undefined) return "it has no default export"
  if (!isRecord(candidate)) return "its default export is not an object: export default defineAdapter({...})"
  const { connect, fields, manifest } = candidate
  if (!isRecord(manifest)) return "it has no manifest"
  if (manifest["contract"] !== 2) return `it follows version ${String(manifest["contract"])} of the adapter contract, not 2`
  if (typeof manifest["provider"] !== "string" || !providerName.test(manifest["provider"])) return "its provider name is not [a-z0-9_]"
  if (typeof manifest["callsPerSecond"] !== "number" || !(manifest["callsPerSecond"] > 0))
    return "its callsPerSecond is not a positive number"
  if (typeof manifest["originatesInFlight"] !== "number" || !(manifest["originatesInFlight"] >= 1))
    return "its originatesInFlight is below 1"
  if (!isRecord(fields)) return "it has no fields"
  for (const [name, field] of Object.entries(fields)) {
    const normal = isRecord(field) ? field["normal"] : undefined
    if (normal !== undefined && !isNormal(normal))
      return `its field ${name} has an unknown normal form, ${JSON.stringify(normal)}: there are ${normalNames.join(", ")} and { domain }`
  }
  return typeof connect === "function" ? undefined : "it has no connect function"
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
