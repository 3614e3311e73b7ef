/**
 * Loads an adapter or a service from an npm package, and says what is wrong with one that cannot be used. Modules shared by the package and the
 * engine exist only once, wherever either is installed: the package gets the engine's own contract and the engine's own `effect`.
 */
import { Effect, Schema } from "effect"
import { findPackageJSON, registerHooks } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { attempt } from "./process/attempt.ts"

/** The message names the adapter and its fault. */
export class BadAdapter extends Schema.TaggedError<BadAdapter>()("BadAdapter", { message: Schema.String }) {}

/** The engine itself imports the contract's files directly. */
const contractName = "trunkline/adapter"
const contractUrl = new URL("../adapters/pluginExport.ts", import.meta.url).href
const isEffect = (specifier: string) => specifier === "effect" || specifier.startsWith("effect/")

/** Operators install packages beside the engine, in the folder from which it is started. */
const beside = () => pathToFileURL(join(process.cwd(), "package.json")).href
/** Marks the name of a package to be found there. */
const installed = "installed:"

/** Applies to packages that are loaded, and to everything they load later. */
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

interface Wanted {
  /** For example "an adapter". */
  readonly what: string
  /** Why a package's default export is not one; undefined if it is. */
  readonly faultOf: (candidate: Readonly<Record<string, unknown>>) => string | undefined
  /** How its author should write it. */
  readonly written: string
}

/** Needs `shareWithPackages`. Runs the package's code. Returns its default export, which has no fault. */
export const loadPackage = Effect.fnUntraced(function* (name: string, { faultOf, what, written }: Wanted) {
  const loaded = yield* Effect.tryPromise({
    try: async (): Promise<unknown> => import(installed + name),
    catch: (error) => new BadAdapter({ message: `The package ${name} ${whyNotLoaded(error)}` })
  })
  const unfit = (wrong: string) => new BadAdapter({ message: `The package ${name} is not ${what} for this engine: ${wrong}` })
  const candidate = isRecord(loaded) ? loaded["default"] : undefined
  if (candidate === undefined) return yield* unfit("it has no default export")
  if (!isRecord(candidate)) return yield* unfit(`its default export is not an object: export default ${written}`)
  const wrong = faultOf(candidate)
  return wrong === undefined ? candidate : yield* unfit(wrong)
})

/** A file is named here by its absolute path, a package by its name. */
const missingPackage = /Cannot find (?:package|module) '([^'./][^']*)'/

const whyNotLoaded = (error: unknown): string => {
  if (!(error instanceof Error)) return `fails while it loads: ${String(error)}`
  const [, missing] = missingPackage.exec(error.message) ?? []
  if (missing !== undefined) return `needs the package ${missing}, which is not installed`
  // With the stack, because the author has to find the place.
  return `fails while it loads: ${error.stack ?? error.message}`
}

const providerPattern = /^[a-z0-9_]{1,32}$/
export const isProviderName = (name: unknown): boolean => typeof name === "string" && providerPattern.test(name)

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
