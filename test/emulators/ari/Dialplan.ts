/**
 * The dialplan, as far as it concerns calls that an application sends there: contexts that accept every extension, with one step per priority.
 * Observed in Asterisk 22: an application that the originate named gets the channel's events there too; `Stasis()` fails for an application
 * without a client, and the next step follows; a channel without a next step ends, with cause 0 if it never had one.
 */
import type { Applications } from "./Applications.ts"
import type { Calls } from "./Calls.ts"
import type { Channel } from "./Channel.ts"

type Step =
  | { readonly set: string; readonly to: string }
  | { readonly wait: number }
  | { readonly hangup: number }
  /** The arguments of `Stasis()`, from the channel's variables. */
  | { readonly stasis: (variable: (name: string) => string) => ReadonlyArray<string> }

export type Contexts = Readonly<Record<string, ReadonlyArray<Step>>>

/** Brings the call back with the results of AMD(). */
export const handOver: Step = {
  stasis: (variable) => [
    variable("TRUNKLINE_APP"),
    "call",
    variable("TRUNKLINE_CALL"),
    ...["AMDSTATUS", "AMDCAUSE"].map((name) => `${name}=${variable(name)}`)
  ]
}

export class Dialplan {
  #contexts: Contexts
  #calls: Calls
  #applications: Applications

  constructor(contexts: Contexts, calls: Calls, applications: Applications) {
    this.#contexts = contexts
    this.#calls = calls
    this.#applications = applications
  }

  has(context: string, priority: number): boolean {
    return this.#contexts[context]?.[priority - 1] !== undefined
  }

  /** Runs the steps from this priority on. */
  run(channel: Channel, context: string, exten: string, priority: number): void {
    if (channel.ended) return
    const step = this.#contexts[context]?.[priority - 1]
    const next = () => this.run(channel, context, exten, priority + 1)
    channel.place = { context, exten, priority }
    if (step === undefined) return this.#calls.end(channel, { cause: priority === 1 ? 0 : 16 })
    if ("set" in step) {
      this.#calls.setVariable(channel, step.set, step.to)
      return next()
    }
    if ("wait" in step) return channel.after(step.wait, next)
    if ("hangup" in step) return this.#calls.end(channel, { cause: step.hangup })
    const [app = "", ...args] = step.stasis((name) => channel.variables[name] ?? "")
    if (!this.#applications.isActive(app)) return next()
    channel.app = app
    channel.appArgs = args.join(",")
    this.#calls.enterStasis(channel)
  }
}
