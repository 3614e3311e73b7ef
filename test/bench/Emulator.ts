/** The far end of a benchmark's calls: an emulated Asterisk or Twilio in its own process, and what its callees saw. */
import { Effect, type Scope } from "effect"
import type { AriEmulatorOptions } from "#test/emulators/ari/AriEmulator.ts"
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"
import { startChild } from "./Child.ts"
import type { Conversed, ConverserPlan } from "./Converser.ts"
import type { EmulatorAddress, EmulatorAnswers, EmulatorCounts, Flow, TwilioOptions } from "./emulatorMain.ts"

const LOOK_AGAIN = "200 millis"

export interface Emulator extends EmulatorAddress {
  readonly pid: number
  readonly counts: Effect.Effect<EmulatorCounts>
  readonly entries: Effect.Effect<ReadonlyArray<CalleeEntry>>
  /** Frames that callees heard, and that they should have heard. */
  readonly flow: Effect.Effect<Flow>
  /** What conversing callees have noted since the last request. */
  readonly conversed: Effect.Effect<Conversed>
  /** When each callee first heard more than noise, by channel. */
  readonly spoken: Effect.Effect<ReadonlyMap<string, number>>
  /** Returns once `holds` accepts the counts. */
  readonly until: (holds: (counts: EmulatorCounts) => boolean) => Effect.Effect<void>
}

/** `callees`: all of them converse, instead of acting by their numbers. */
export const startEmulator = (options: AriEmulatorOptions, callees?: ConverserPlan) => start("asterisk", options, callees)
export const startTwilio = (options: TwilioOptions, callees?: ConverserPlan) => start("twilio", options, callees)

const start = (
  name: "asterisk" | "twilio",
  options: object,
  callees: ConverserPlan | undefined
): Effect.Effect<Emulator, never, Scope.Scope> =>
  Effect.gen(function* () {
    const environment = {
      ...process.env,
      EMULATOR: name,
      EMULATOR_OPTIONS: JSON.stringify(options),
      EMULATOR_CALLEES: JSON.stringify(callees ?? null)
    }
    const child = yield* startChild({ file: "emulatorMain.ts", environment })
    const asked = <Name extends keyof EmulatorAnswers>(name: Name) => child.ask<EmulatorAnswers[Name]>({ question: name }, name)
    const counts = asked("counts")
    const until: Emulator["until"] = (holds) =>
      Effect.flatMap(counts, (now) => (holds(now) ? Effect.void : Effect.andThen(Effect.sleep(LOOK_AGAIN), until(holds))))
    const address = yield* child.told<EmulatorAddress>("address")
    return {
      ...address,
      pid: child.pid,
      counts,
      conversed: asked("conversed"),
      spoken: Effect.map(asked("spoken"), (spoken) => new Map(spoken)),
      flow: asked("flow"),
      until,
      entries: asked("entries")
    }
  })
