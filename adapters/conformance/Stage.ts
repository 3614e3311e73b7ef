/** The adapter, the world in which it is tested, and how long to wait for either. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Adapter } from "#core/provider/Adapter.ts"
import { Nonconformity } from "./Nonconformity.ts"
import type { World } from "./World.ts"

const SHORTEST_MILLIS = 5
const LONGEST_MILLIS = 100
/** The share of the wait so far after which to look again. */
const PAUSE_SHARE = 0.1

export class Stage {
  readonly adapter: Adapter
  readonly world: World
  readonly patienceMillis: number

  constructor(adapter: Adapter, world: World, patienceMillis: number) {
    this.adapter = adapter
    this.world = world
    this.patienceMillis = patienceMillis
  }

  /** Waits for what must happen; if it does not, says what was seen instead. */
  async until<A>(expected: string, found: () => A | undefined | Promise<A | undefined>, seen: () => string, why: string): Promise<A> {
    const began = performance.now()
    while (true) {
      const it = await found()
      if (it !== undefined) return it
      const waited = performance.now() - began
      if (waited > this.patienceMillis) throw new Nonconformity({ expected: `that ${expected}`, seen: seen(), why })
      await sleep(Math.min(LONGEST_MILLIS, Math.max(SHORTEST_MILLIS, waited * PAUSE_SHARE)))
    }
  }
}
