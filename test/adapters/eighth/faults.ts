/** Runs the suite against adapters with one fault each: the right case must fail, with the right words. */
import t from "tap"
import { conformance, type World } from "#adapters/conformance/conformance.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { openParley } from "./parleyWorld.ts"

/** How long a case waits for what a broken adapter never does: long enough for what it does, on a busy machine. */
const PATIENCE_MILLIS = 15_000

/** By the beginning of the name of the case that must fail: what is wrong with an adapter, the adapter, and the message. */
export type Faults = Readonly<Record<string, Readonly<Record<string, readonly [adapter: Adapter, message: RegExp]>>>>

/** `openWorld`: opens a world of the carrier that the adapters are for. */
export const fail = (groups: ReadonlyArray<Faults>, openWorld: () => Promise<World> = openParley): void => {
  t.jobs = 8
  for (const [caseName, faults] of groups.flatMap((faults) => Object.entries(faults))) {
    for (const [what, [adapter, message]] of Object.entries(faults)) {
      t.test(`an adapter that ${what} fails: ${caseName}`, { buffered: true }, async (t) => {
        const asked = conformance(adapter, openWorld, { patienceMillis: PATIENCE_MILLIS }).find(({ name }) => name.startsWith(caseName))
        if (asked === undefined) throw new Error("there is no such case")
        await t.rejects(() => asked.run().then(() => {}), { message })
      })
    }
  }
}
