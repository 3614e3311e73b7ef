/** The address of a service, which operators may replace by that of a server of their own. */
import { address } from "#core/provider/Credential.ts"

export const baseUrlField = (usual: string) =>
  ({
    ...address({ label: "Base URL", description: "The address that ends before the service's own paths." }),
    required: false,
    default: usual
  }) as const

export const addressFaults = ({ base_url }: { readonly base_url: string }) => {
  const url = URL.parse(base_url)
  const isUsable = url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "" && url.password === ""
  return isUsable ? [] : [{ field: "base_url", message: "Input should be an http:// or https:// address" }]
}

/** `query`: by name, once for each item of a list. */
export const socketUrl = (baseUrl: string, path: string, query: Readonly<Record<string, string | ReadonlyArray<string>>>): URL => {
  const url = new URL(`${baseUrl.replace(/\/+$/, "").replace(/^http/, "ws")}${path}`)
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) url.searchParams.append(name, one)
  // Not every service takes a plus for a space.
  url.search = url.search.replaceAll("+", "%20")
  return url
}
