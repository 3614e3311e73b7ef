import type { HangupCause } from "#core/outcome/HangupCause.ts"

export const detected = ["human", "machine", "fax", "silence", "unknown"] as const
type Detected = (typeof detected)[number]

/**
 * What a provider reports of one call, in the engine's terms. Events may be repeated, late, or precede the reply to the originate. `at` is the
 * provider's own timestamp in epoch milliseconds, if it sends one. Only differences between events of the same call are used, because the
 * provider's clock is not ours.
 */
export type TrunkEvent =
  /**
   * The provider's own id of the call, in printable ASCII, at most 200 characters. It may come before or after the reply to the originate, and may
   * replace an earlier one: some providers name the request first and the call later. Later verbs get it in their `CallRef`.
   */
  | { readonly _tag: "Named"; readonly providerCallId: string }
  /** The provider has accepted the call and keeps it in a queue of its own: the phone may ring much later, unless the engine hangs up before. */
  | { readonly _tag: "Queued" }
  /** The call exists and waits in no queue; nothing is known about a phone yet. */
  | { readonly _tag: "Placed" }
  | { readonly _tag: "Rang" }
  /**
   * `isElsewhere`: the provider's side, such as a dialplan, handles the answered call first. Either a second `Answered` without it follows, once
   * the call's audio can be opened, or the call ends.
   */
  | { readonly _tag: "Answered"; readonly at?: number; readonly isElsewhere?: true }
  /**
   * A cause that may hide an answer (`mayHideAnswer`) is reported only if an answer would have been heard; otherwise it is `trunk_lost`. After
   * `no_credit`, nothing is dialed until a person acts; `detail` has the provider's own words for it. They must not hold a phone number or a credential.
   */
  | { readonly _tag: "HungUp"; readonly cause: HangupCause; readonly at?: number; readonly detail?: string }
  /**
   * Something that the provider has not signed says that the call has ended. It is not believed: the engine looks, repeatedly for a while,
   * because a provider's records lag behind its callbacks. The record reports the end, if there is one.
   */
  | { readonly _tag: "EndClaimed" }
  | { readonly _tag: "Dtmf"; readonly digit: string }
  /** Who or what has answered, as the provider's own detection judges. */
  | { readonly _tag: "Detected"; readonly who: Detected }
  /** The machine has said its greeting: a message can be left from now on. */
  | { readonly _tag: "GreetingEnded" }
  /**
   * The outcome of the transfer with this number. `answered`: the callee is with the destination, and the agent is out of the call, which ends
   * when either of them hangs up; a blind transfer is reported so as soon as the provider has accepted it. Otherwise the callee is back with the
   * agent, over a new stream if the old one has ended, and `cause` says why. A later event of an answered transfer is ignored.
   */
  | { readonly _tag: "Transferred"; readonly transfer: number; readonly answered: true }
  | { readonly _tag: "Transferred"; readonly transfer: number; readonly answered: false; readonly cause: HangupCause }
  /**
   * What the call has cost so far, without the leg of a transfer's destination, as a decimal without a sign, in the currency's main unit
   * (`"0.0085"`, `"USD"`). It replaces earlier reports, and may arrive after the end.
   */
  | { readonly _tag: "Billed"; readonly amount: string; readonly currency: string }
  /** Variables that the provider's side, such as a dialplan, has set on the call, by name, for its run. Must not hold a phone number. */
  | { readonly _tag: "VariablesSet"; readonly values: Readonly<Record<string, string>> }
