/**
 * Phone numbers as they are dialed within a country. A port, because the numbering plans of all countries are half a megabyte, loaded on first
 * use.
 */
import { Context, type Effect } from "effect"
import type { NumberingPlan } from "./WrittenNumber.ts"

export class NationalNumbers extends Context.Service<
  NationalNumbers,
  {
    /**
     * `+` and the digits with their country code, whether or not such a number exists; the digits may begin with a trunk prefix, an
     * international prefix or the country code. Undefined if no country has this code (ISO 3166-1, in capitals).
     */
    readonly international: (digits: string, countryCode: string) => Effect.Effect<string | undefined>
    readonly plan: Effect.Effect<NumberingPlan>
  }
>()("core/telephony/NationalNumbers") {}
