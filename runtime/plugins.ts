/** Loads the adapters that ADAPTERS names: built-in ones, and npm packages that default-export one, which are checked first. */
import { Effect, Layer } from "effect"
import { builtIn } from "#adapters/builtIn.ts"
import { Registry } from "#core/provider/Registry.ts"
import { BadAdapter, isInstalled, loadPackage, shareWithPackages } from "./adapterPackage.ts"
import { Config } from "./config/config.ts"
import { askingAdapter } from "./trunk/askingAdapter.ts"

const builtInNames = builtIn.map(({ manifest }) => manifest.provider)

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { adapters = builtInNames } = yield* Config
    yield* shareWithPackages
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
  if (!isInstalled(name)) {
    return yield* new BadAdapter({
      message: `ADAPTERS names ${name}, which is neither a built-in adapter (${builtInNames.join(", ")}) nor a package installed in ${process.cwd()}`
    })
  }
  return askingAdapter(yield* loadPackage(name))
})
