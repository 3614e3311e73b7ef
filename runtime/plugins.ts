/** Loads what ADAPTERS and SERVICES name: built-in adapters, and npm packages that default-export an adapter or a service, which are checked first. */
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { builtIn } from "#adapters/builtIn.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { isNormal, normalNames } from "#core/provider/Normal.ts"
import { Registry } from "#core/provider/Registry.ts"
import { BadAdapter, isInstalled, isProviderName, isRecord, loadPackage, shareWithPackages } from "./adapterPackage.ts"
import { Config } from "./config/config.ts"
import { layerOf as servicesOf } from "./servicePlugins.ts"
import { askingAdapter } from "./trunk/askingAdapter.ts"

const builtInNames = builtIn.map(({ manifest }) => manifest.provider)

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { adapters = builtInNames, dataDir, hearing, pocketsphinxDecoders, pocketsphinxDir, services = [] } = yield* Config
    yield* shareWithPackages
    const loaded = yield* Effect.forEach(adapters, load)
    const names = loaded.map((adapter) => adapter.manifest.provider)
    const twice = names.find((name, at) => names.indexOf(name) !== at)
    if (twice !== undefined) return yield* new BadAdapter({ message: `ADAPTERS names two adapters for the provider ${twice}` })
    const options = { hearing, models: join(dataDir, "models"), folder: pocketsphinxDir, listening: pocketsphinxDecoders }
    return Layer.merge(Registry.layerOf(loaded), yield* servicesOf(services, options))
  })
)

const load = Effect.fnUntraced(function* (name: string) {
  const shipped = builtIn.find((adapter) => adapter.manifest.provider === name)
  if (shipped !== undefined) return shipped
  if (!isInstalled(name)) {
    return yield* new BadAdapter({
      message: `ADAPTERS names ${name}, which is neither a built-in adapter (${builtInNames.join(", ")}) nor a package installed in ${process.cwd()}`
    })
  }
  const adapter = yield* loadPackage(name, { what: "an adapter", written: "defineAdapter({...})", faultOf })
  // Cast: `faultOf` has checked every part of the contract that can be checked before connecting.
  return askingAdapter(adapter as unknown as Adapter)
})

const faultOf = ({ connect, fields, manifest }: Readonly<Record<string, unknown>>): string | undefined => {
  if (!isRecord(manifest)) return "it has no manifest"
  if (manifest["contract"] !== 2) return `it follows version ${String(manifest["contract"])} of the adapter contract, not 2`
  if (!isProviderName(manifest["provider"])) return "its provider name is not [a-z0-9_]"
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
