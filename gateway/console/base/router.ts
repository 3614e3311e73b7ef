/** Where the console is: the part of the address after `#`, so that each page has an address of its own and the engine serves one file. */
import { signal } from "@preact/signals"

const here = (): ReadonlyArray<string> => location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent)

/** `["campaigns", "7"]` for `/console#/campaigns/7`. */
export const place = signal<ReadonlyArray<string>>(here())
addEventListener("hashchange", () => {
  place.value = here()
})

export const go = (path: string): void => {
  location.hash = `#/${path}`
}
