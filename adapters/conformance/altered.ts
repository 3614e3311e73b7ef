/** Callbacks that were altered on the way. */
import type { Callback } from "#core/provider/Callback.ts"
import { formOf, type Pair } from "#adapters/shared/CarrierRequest.ts"

/** How many places in a body are altered. */
const MOST_PLACES = 32

const withBody = (callback: Callback, body: string | Uint8Array): Callback => ({ ...callback, body: Buffer.from(body) })

/** The same callback, each time with one field or byte of its body changed. None if it has no body. */
export const alteredBodies = (callback: Callback): ReadonlyArray<Callback> => {
  const form = formOf(callback)
  // Some carriers sign a form's decoded fields, so a change must affect a field.
  if (form !== undefined) {
    const changed = form.map((_, at) => form.map(([name, value], n): Pair => [name, n === at ? `${value}1` : value]))
    const cut = form.map((_, at) => form.toSpliced(at, 1))
    return [...changed, ...cut, [...form, ["Unheard", "1"] satisfies Pair]].map((fields) =>
      withBody(callback, fields.map((pair) => pair.map(encodeURIComponent).join("=")).join("&"))
    )
  }
  const { body } = callback
  const step = Math.max(1, Math.floor(body.length / MOST_PLACES))
  return Array.from({ length: Math.ceil(body.length / step) }, (_, n) => {
    const bytes = Buffer.from(body)
    bytes[n * step] = (bytes[n * step] ?? 0) ^ 1
    return withBody(callback, bytes)
  })
}

export const withOtherQuery = (callback: Callback): Callback => {
  const mark = callback.url.includes("?") ? "&" : "?"
  return { ...callback, url: `${callback.url}${mark}unheard=1` }
}

/** The callback at another valid address of ours. */
export const atAddress = (callback: Callback, url: string): Callback => {
  const [, query] = callback.url.split("?")
  return { ...callback, url: query === undefined ? url : `${url}?${query}` }
}

export const sentAt = (callback: Callback, at: number): Callback => ({ ...callback, at })

/** The callback without its proof. */
export const unsigned = (callback: Callback): Callback => ({
  ...callback,
  headers: { "content-type": callback.headers["content-type"] }
})

const replaced = (text: string, pairs: ReadonlyArray<readonly [from: string, to: string]>): string =>
  pairs
    .filter(([from]) => from !== "")
    .flatMap(([from, to]) => [[from, to] as const, [encodeURIComponent(from), encodeURIComponent(to)] as const])
    .reduce((result, [from, to]) => result.replaceAll(from, to), text)

/**
 * What an attacker would send who has seen the callbacks of two calls and wants to end one of them: a genuine callback of that call with the
 * body of the other one's end. `names`: what identifies the calls, the other one's first.
 */
export const splicedEnd = (live: Callback, end: Callback, names: ReadonlyArray<readonly [from: string, to: string]>): Callback => ({
  ...live,
  body: Buffer.from(replaced(Buffer.from(end.body).toString(), names)),
  headers: { ...live.headers, "content-type": end.headers["content-type"] }
})
