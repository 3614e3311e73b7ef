/** A CSV file that is sent while it is read. Only one batch of its lines is in memory at a time, however long it is. */
import { Stream } from "effect"
import type { Content } from "#gateway/request/Route.ts"

export const csvContent = (fileName: string, header: string, lines: Stream.Stream<string, unknown>): Content => ({
  mediaType: "text/csv; charset=utf-8",
  fileName,
  body: Stream.concat(Stream.make(header), lines).pipe(
    Stream.filter((text) => text !== ""),
    Stream.map((text): Uint8Array => Buffer.from(text))
  )
})
