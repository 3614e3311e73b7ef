/** The adapters of this engine by provider name. They are fixed at start-up. */
import { Context, Layer } from "effect"
import type { Adapter } from "./Adapter.ts"

export class Registry extends Context.Service<
  Registry,
  {
    /** Sorted by provider name. */
    readonly all: ReadonlyArray<Adapter>
    readonly find: (provider: string) => Adapter | undefined
  }
>()("core/provider/Registry") {
  static readonly layerOf = (adapters: ReadonlyArray<Adapter>) =>
    Layer.sync(Registry, () => {
      const all = [...adapters].sort((a, b) => (a.manifest.provider < b.manifest.provider ? -1 : 1))
      const byName = new Map(all.map((adapter) => [adapter.manifest.provider, adapter]))
      return { all, find: (provider) => byName.get(provider) }
    })
}
