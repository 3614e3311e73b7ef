/** Examples of requests from other programs, which the page shows beside those that it sends itself. Runs in a browser. */

export const base = `${location.origin}/api/v1`

const pretty = (body) => (typeof body === "string" ? body : JSON.stringify(body, null, 2))
const mediaType = (body) => (typeof body === "string" ? "text/csv" : "application/json")

/** `path` begins after `/api/v1`; a string as body is a CSV list of contacts. */
export const curl = (method, path, body) =>
  `curl -X ${method.toUpperCase()} '${base}${path}' -H "X-API-Key: $KEY"` +
  (body === undefined ? "" : ` \\\n  -H 'Content-Type: ${mediaType(body)}' --data-binary '${pretty(body).replaceAll("'", "'\\''")}'`)

export const typescript = (method, path, body) => {
  const content = typeof body === "string" ? JSON.stringify(body) : `JSON.stringify(${pretty(body)?.replaceAll("\n", "\n  ")})`
  return (
    `const answer = await fetch("${base}${path}", {\n  method: "${method.toUpperCase()}",\n  headers: { "X-API-Key": key` +
    (body === undefined ? " }\n})" : `, "Content-Type": "${mediaType(body)}" },\n  body: ${content}\n})`) +
    "\nconsole.log(await answer.json())"
  )
}
