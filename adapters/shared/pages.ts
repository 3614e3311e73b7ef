/** Lists that a carrier gives out page by page. */
import { Effect } from "effect"
import type { ProviderError } from "#core/provider/Adapter.ts"
import type { HostedCarrier } from "./HostedCarrier.ts"
import type { HttpRequest, Reply } from "./HttpClient.ts"

const MOST_PAGES = 50

interface Listing {
  /** How many entries there are already, on how many pages. */
  readonly next: (listed: number, pages: number) => HttpRequest
  /** Undefined: it is no page of this list. `count`: the entries on all pages. */
  readonly read: (reply: Reply) => { readonly entries: ReadonlyArray<unknown>; readonly count: number } | undefined
  /** Words for a reply that is no page. */
  readonly describe: (reply: Reply) => string
}

/** The entries of all pages. Fails rather than to return a part of them. */
export const allOf = (
  { ask, error }: Pick<HostedCarrier, "ask" | "error">,
  operation: string,
  { describe, next, read }: Listing
): Effect.Effect<ReadonlyArray<unknown>, ProviderError> =>
  Effect.gen(function* () {
    const listed: Array<unknown> = []
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const reply = yield* ask(operation, next(listed.length, pages))
      const page = read(reply)
      if (page === undefined) return yield* error(operation, describe(reply))
      listed.push(...page.entries)
      if (page.entries.length === 0 || listed.length >= page.count) return listed
    }
    return yield* error(operation, "the list is too long")
  })
