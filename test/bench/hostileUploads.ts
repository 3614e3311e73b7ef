/** Files that are expensive to take, for the routes that take bytes: as they are, and as forms with boundaries, line ends and parts everywhere. */
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
const boundary = "b"
const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n`
const field = `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n`
const forms: ReadonlyArray<(text: string) => string> = [
  (text) => `${head}${text}\r\n--${boundary}--`,
  (text) => text,
  () => field.repeat(Math.floor(bytes / field.length)),
  () => `\r\n--${boundary}`.repeat(Math.floor(bytes / 5)),
  () => `${head}${`\r\n-`.repeat(Math.floor(bytes / 3))}`,
  (text) => `--${boundary}\r\n${text}`
]
const rows: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  (text) => `phone_number\n${text}`,
  (text) => `phone_number,${text.slice(0, 1000)}\n${"+15550100001,a\n".repeat(60_000)}`,
  () => `phone_number\n${",".repeat(bytes)}`,
  () => `phone_number\n${'"'.repeat(bytes)}`,
  () => `phone_number,${Array.from({ length: 90_000 }, (_, at) => `c${at}`).join(",")}\n+15550100001`
]

/** As `bodiesOf`. */
export const uploadsOf = (routes: ReadonlyArray<Route<unknown>>, count: number, seed: number): ReadonlyArray<() => HostileUpload> => {
  const takers = routes.filter(takesBytes)
  return seeded(count, seed, ([at, which, type], index) => {
    const route = takers[index % takers.length] as Route<unknown>
    const types = route.body._tag === "Upload" ? route.body.mediaTypes : []
    const isForm = types.includes("multipart/form-data")
    const { made, text } = textOf(which, bytes)
    const shape = at % (isForm ? forms : rows).length
    return {
      route,
      text: (isForm ? forms : rows)[shape]?.(text).slice(0, bytes) ?? "",
      contentType: isForm ? `multipart/form-data; boundary=${boundary}` : (types[type % types.length] ?? ""),
      made: `${made} in shape ${shape}`
    }
  })
}
