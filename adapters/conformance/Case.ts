/** One thing that every adapter must do, for any test runner to run. */
import type { Adapter } from "#core/provider/Adapter.ts"
import { NotAsked } from "./Nonconformity.ts"
import { Scene } from "./Scene.ts"
import type { World } from "./World.ts"

export interface Verdict {
  /** Why the case does not apply to this carrier, or could not be tested in this world. Undefined: it ran, and passed. */
  readonly notAsked?: string
}

export interface Case {
  readonly name: string
  /** Opens its own world and closes it again. Rejects with what was expected, what was seen, and why it matters. */
  readonly run: () => Promise<Verdict>
}

/** How a case is written. */
export interface Rule {
  readonly name: string
  readonly holds: (scene: Scene) => Promise<void>
}

interface Asked {
  readonly adapter: Adapter
  readonly openWorld: () => Promise<World>
  /** How long to wait for anything that must happen. A long time costs nothing when it happens soon. */
  readonly patienceMillis: number
}

/** `close` always runs, and closes what was opened for the case. */
export const verdictOf = async (holds: () => Promise<void>, close: () => Promise<void>): Promise<Verdict> => {
  try {
    await holds()
    return {}
  } catch (error) {
    if (error instanceof NotAsked) return { notAsked: error.message }
    throw error
  } finally {
    await close()
  }
}

export const caseOf = ({ holds, name }: Rule, { adapter, openWorld, patienceMillis }: Asked): Case => ({
  name,
  run: async () => {
    const scene = new Scene(adapter, await openWorld(), patienceMillis)
    return verdictOf(
      () => holds(scene),
      () => scene.close()
    )
  }
})
