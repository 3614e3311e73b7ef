/** A short summary of the API for language models: one line for each operation, grouped by tag. */
import type { Route } from "#gateway/request/Route.ts"

const wordsOf: { readonly [Access in Route["access"]]: string } = {
  "api-key": "",
  "api-key-header": " (`X-API-Key` only)",
  none: " (no credential)"
}

const lineOf = ({ access, method, path, summary }: Route<unknown>): string =>
  `- \`${method.toUpperCase()} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}\`: ${summary}${wordsOf[access]}`

export const llmsText = (routes: ReadonlyArray<Route<unknown>>): string => {
  const tags = [...new Set(routes.map(({ tag }) => tag))]
  const sections = tags.map((tag) => [`## ${tag.name}`, "", ...routes.filter((route) => route.tag === tag).map(lineOf), ""].join("\n"))
  return [
    "# Trunkline",
    "",
    "> Calls people with voice agents: single calls and whole campaigns. JSON over HTTP.",
    "",
    "- Credential: an API key in `X-API-Key`, or an API key or login token as `Authorization: Bearer`.",
    '- Errors: `{"detail": "..."}`; an invalid request is answered with 422 and a list of what is wrong where.',
    "- Details: [OpenAPI 3.1](/api/v1/openapi.json); as a page: [documentation](/docs).",
    "",
    ...sections
  ].join("\n")
}
