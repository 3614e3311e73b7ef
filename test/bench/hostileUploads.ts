/** Files that are expensive to accept, for the routes that take bytes. */
import type { Route } from "#gateway/request/Route.ts"
import { seeded, textOf } from "./bombs.ts"

interface HostileUpload {
  readonly route: Route<unknown>
  readonly text: string
  readonly contentType: string
  readonly made: string
}

export const takesBytes = (route: Route<unknown>): boolean => route.body._tag === "Upload"

const bytes = 1_000_000
const rows: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  (text) => `phone_number\n${text}`,
  (text) => `phone_number,${text.slice(0, 1000)}\n${"+15550100001,a\n".repeat(60_000)}`,
  () => `phone_number\n${",".repeat(bytes)}`,
  () => `phone_number\n${'"'.repeat(bytes)}`,
  () => `phone_number,${Array.from({ length: 90_000 }, (_, at) => `c${at}`).join(",")}\n+15550100001`
]

/** Like `bodiesOf`. */
export const uploadsOf = (routes: ReadonlyArray<Route<unknown>>, count: number, seed: number): ReadonlyArray<() => HostileUpload> => {
  const takers = routes.filter(takesBytes)
  return seeded(count, seed, ([at, which, type], index) => {
    const route = takers[index % takers.length] as Route<unknown>
    const types = route.body._tag === "Upload" ? route.body.mediaTypes : []
    const { made, text } = textOf(which, bytes)
    const shape = at % rows.length
    return {
      route,
      text: rows[shape]?.(text).slice(0, bytes) ?? "",
      contentType: types[type % types.length] ?? "",
      made: `${made} in shape ${shape}`
    }
  })
}
