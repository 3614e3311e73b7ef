/** Runs the suite against adapters with one fault each: the right case must fail, with the right words. */
import t from "tap"
import { conformance, type World } from "#adapters/conformance/conformance.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { openParley } from "./parleyWorld.ts"

/** How long a case waits for what a broken adapter never does: long enough for what it does, on a busy machine. */
const PATIENCE_MILLIS = 15_000

/** What is wrong, the beginning of the name of the case that must fail, and its message. */
export type Fault = readonly [what: string, adapter: Adapter, caseName: string, message: RegExp]

/** `openWorld`: opens a world of the carrier that the adapters are for. */
export const fail = (faults: ReadonlyArray<Fault>, openWorld: () => Promise<World> = openParley): void => {
  t.jobs = 8
  for (const [what, adapter, caseName, message] of faults) {
    t.test(`an adapter that ${what} fails: ${caseName}`, { buffered: true }, async (t) => {
      const asked = conformance(adapter, openWorld, { patienceMillis: PATIENCE_MILLIS }).find(({ name }) => name.startsWith(caseName))
      if (asked === undefined) throw new Error("there is no such case")
      await t.rejects(() => asked.run().then(() => {}), { message })
    })
  }
}
