import type { Adapter } from "#core/provider/Adapter.ts"
import * as adapters from "./index.ts"

/** Sorted by provider name. */
export const builtIn: ReadonlyArray<Adapter> = Object.values(adapters)
