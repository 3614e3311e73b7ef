/** Requests that are expensive because of their query or path: filters, searches, dates, cursors, names. */
import type { Route } from "#gateway/request/Route.ts"
import { seeded, textOf } from "./bombs.ts"

interface HostileHead {
  readonly route: Route<unknown>
  readonly path: string
  readonly made: string
}

const pathNames = (path: string): ReadonlyArray<string> => [...path.matchAll(/:([a-z_]+)/g)].flatMap(([, name]) => name ?? [])
const queryNames = ({ query }: Route<unknown>): ReadonlyArray<string> => Object.keys(query.properties)
export const takesText = (route: Route<unknown>): boolean => pathNames(route.path).length + queryNames(route).length > 0

/** Sizes up to what the server accepts as a head, less what is in it anyway. */
const sizes = [40, 400, 3000]

/** Like `bodiesOf`. A request with an expensive path names nothing that exists. */
export const headsOf = (routes: ReadonlyArray<Route<unknown>>, count: number, seed: number): ReadonlyArray<() => HostileHead> => {
  const takers = routes.filter(takesText)
  return seeded(count, seed, ([at, which, size], index) => {
    const route = takers[index % takers.length] as Route<unknown>
    const names = [...queryNames(route), ...pathNames(route.path)]
    const name = names[at % names.length] ?? ""
    const { made, text } = textOf(which, sizes[size % sizes.length] ?? 40)
    // Each escaped byte takes three, and that much fits into the head.
    const value = encodeURIComponent(text.toWellFormed()).slice(0, 3000).replace(/%.?$/, "")
    const isQuery = queryNames(route).includes(name)
    const path = route.path.replaceAll(/:([a-z_]+)/g, (_, own: string) => (own === name && !isQuery ? value : "1"))
    return { route, path: isQuery ? `${path}?${name}=${value}` : path, made: `${made} in ${name}` }
  })
}
