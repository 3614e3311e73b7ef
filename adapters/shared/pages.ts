/** Reads carriers' paged lists. */
import { Effect } from "effect"
import type { ProviderError } from "#core/provider/Adapter.ts"
import type { HostedCarrier } from "./HostedCarrier.ts"
import type { HttpRequest } from "./HttpClient.ts"
import { isSuccess } from "./replies.ts"

const MOST_PAGES = 100

/** What has been read so far. */
interface Listed {
  readonly entries: number
  readonly pages: number
  /** The `cursor` of the latest page. */
  readonly cursor: string | undefined
}

export interface Page {
  readonly entries: ReadonlyArray<unknown>
  /** The total number of entries, for carriers that report it with each page. */
  readonly count?: number
  /** For carriers that mark the last page. An empty page is the last one in any case. */
  readonly isLast?: boolean
  /** Where the next page begins, for carriers that do not count. */
  readonly cursor?: string | undefined
}

/** A page, if its parts were found where the carrier puts them; undefined: not a page. */
export const countedPage = (entries: unknown, count: number | undefined): Page | undefined =>
  Array.isArray(entries) && count !== undefined ? { count, entries } : undefined

/** The entries of all pages. Fails rather than return only some of them. `read` returns undefined for anything but a page of this list. */
export const allOf = (
  { ask, error }: Pick<HostedCarrier, "ask" | "error">,
  operation: string,
  next: (listed: Listed) => HttpRequest,
  read: (body: unknown) => Page | undefined
): Effect.Effect<ReadonlyArray<unknown>, ProviderError> =>
  Effect.gen(function* () {
    const entries: Array<unknown> = []
    let cursor: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const { body } = yield* ask(operation, next({ entries: entries.length, pages, cursor }), isSuccess)
      const page = read(body)
      if (page === undefined) return yield* error(operation, "not the list that was asked for")
      entries.push(...page.entries)
      const { count = Number.POSITIVE_INFINITY, isLast = false } = page
      if (page.entries.length === 0 || isLast || entries.length >= count) return entries
      cursor = page.cursor
    }
    return yield* error(operation, "the list is too long")
  })
