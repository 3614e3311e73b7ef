/** Sabotages of everything that is not dispatch. */
import type { Sabotage } from "./Sabotage.ts"

export const border: ReadonlyArray<Sabotage> = []
