/** Pages of long lists. If more items follow, the answer's `Link` header has the URL of the next page. */
import Type from "typebox"
import type { Page, Part } from "#core/Page.ts"
import type { Listed } from "#gateway/request/Route.ts"

const mostOffset = 100_000

export const pageQuery = {
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 1000 }),
  offset: Type.Integer({ minimum: 0, maximum: mostOffset, default: 0, description: "How many items to skip." })
}
export const PageQuery = Type.Object(pageQuery)

/** Asks for one row more than is shown, which tells whether there is another page. */
export const pageOf = ({ limit, offset }: Page): Page => ({ limit: limit + 1, offset })

/** Makes a page of rows that were read with `pageOf`. */
export const listed = <Row, Body>(query: Page, rows: ReadonlyArray<Row>, bodyOf: (shown: ReadonlyArray<Row>) => Body): Listed<Body> => {
  const more = rows.length > query.limit && query.offset + query.limit <= mostOffset
  const next = { offset: String(query.offset + query.limit), after: undefined }
  return { body: bodyOf(more ? rows.slice(0, query.limit) : rows), next: more ? next : undefined }
}

/** The same for a list whose items may be large, so that a page may be cut short. */
export const listedPart = <Row, Body>(
  query: Page,
  { isCut, rows }: Part<Row>,
  bodyOf: (shown: ReadonlyArray<Row>) => Body
): Listed<Body> => {
  if (!isCut) return listed(query, rows, bodyOf)
  const shown = rows.slice(0, query.limit)
  return { body: bodyOf(shown), next: { offset: String(query.offset + shown.length), after: undefined } }
}

/** The same for lists with `after`: the next page begins after the last row shown. */
export const listedByKey = <Row, Body>(
  query: Page,
  rows: ReadonlyArray<Row>,
  keyOf: (row: Row) => number,
  bodyOf: (shown: ReadonlyArray<Row>) => Body
): Listed<Body> => {
  const { body, next } = listed(query, rows, bodyOf)
  const last = rows[query.limit - 1]
  return { body, next: next && last && { offset: undefined, after: String(keyOf(last)) } }
}

export const listedById = <Row extends { readonly id: number }, Body>(
  query: Page,
  rows: ReadonlyArray<Row>,
  bodyOf: (shown: ReadonlyArray<Row>) => Body
): Listed<Body> => listedByKey(query, rows, ({ id }) => id, bodyOf)
