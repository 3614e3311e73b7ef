/* The key, the first steps, and the reference below them. Runs in a browser: no modules, and nothing is fetched from elsewhere. */
const base = `${location.origin}/api/v1`
const field = document.getElementById("key")
const caller = document.getElementById("caller")
field.value = sessionStorage.getItem("api-key") ?? ""

const showCaller = async () => {
  if (field.value === "") return void (caller.value = "")
  const answer = await fetch(`${base}/organizations/context`, { headers: { "X-API-Key": field.value } })
  caller.value = answer.ok ? "The key works." : `The key is refused (${answer.status}).`
}
field.addEventListener("change", () => {
  sessionStorage.setItem("api-key", field.value)
  void showCaller()
})
void showCaller()

const pretty = (body) => JSON.stringify(body, null, 2)
const curl = (method, path, body) =>
  `curl -X ${method.toUpperCase()} '${base}${path}' -H "X-API-Key: $KEY"` +
  (body === undefined ? "" : ` \\\n  -H 'Content-Type: application/json' -d '${pretty(body).replaceAll("'", "'\\''")}'`)
const typescript = (method, path, body) =>
  `const answer = await fetch("${base}${path}", {\n  method: "${method.toUpperCase()}",\n  headers: { "X-API-Key": key` +
  (body === undefined
    ? " }\n})"
    : `, "Content-Type": "application/json" },\n  body: JSON.stringify(${pretty(body).replaceAll("\n", "\n  ")})\n})`) +
  "\nconsole.log(await answer.json())"

const account = {
  provider: "ari",
  ari_endpoint: "http://127.0.0.1:8088",
  app_name: "trunkline",
  app_password: "secret",
  dial_string: "PJSIP/{number}@my-trunk"
}
const list = { file_name: "people.csv", file_size: 61 }
const steps = [
  [
    "Tell the engine of your Asterisk.",
    "post",
    "/organizations/telephony-configs",
    { name: "pbx", is_default_outbound: true, config: account }
  ],
  [
    "Take an agent from a template; the answer has its id.",
    "post",
    "/workflow/create/template",
    { call_type: "outbound", use_case: "Dentist", activity_description: "Remind patients of tomorrow's appointment." }
  ],
  [
    "Ask where to put the list, and PUT the CSV there: a column phone_number in E.164, and any others.",
    "post",
    "/s3/presigned-upload-url",
    list
  ],
  [
    "Make a campaign of both.",
    "post",
    "/campaign/create",
    { name: "Tomorrow", workflow_id: 1, source_type: "csv", source_id: "the file_key of the step before" }
  ],
  ["Start it.", "post", "/campaign/1/start"],
  ["See how far it is.", "get", "/campaign/1/progress"]
]
const element = (name, text, ...children) => {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  made.append(...children)
  return made
}
const shownStep = ([text, method, path, body]) => {
  const more = element("details", undefined, element("summary", "TypeScript"), element("pre", typescript(method, path, body)))
  return element("li", text, element("pre", curl(method, path, body)), more)
}
document.getElementById("steps").append(...steps.map(shownStep))

/** Before the answers of each operation: how it is asked for from elsewhere. */
const examples = ({ React }) => ({
  wrapComponents: {
    responses: (Original, system) => (props) => {
      const { method, path } = props
      const operation = system.specSelectors.specJson().getIn(["paths", path, method])
      const given = operation?.getIn(["requestBody", "content", "application/json", "example"])
      const body = given?.toJS === undefined ? given : given.toJS()
      const short = path.replace("/api/v1", "")
      const shown = (title, text) =>
        React.createElement("details", { key: title }, React.createElement("summary", null, title), React.createElement("pre", null, text))
      const both = [shown("curl", curl(method, short, body)), shown("TypeScript", typescript(method, short, body))]
      return React.createElement(
        React.Fragment,
        null,
        React.createElement("div", { className: "examples" }, both),
        React.createElement(Original, props)
      )
    }
  }
})

SwaggerUIBundle({
  url: "/api/v1/openapi.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  // Otherwise the document is sent to a service elsewhere.
  validatorUrl: null,
  plugins: [examples],
  requestInterceptor: (request) => {
    if (field.value !== "" && new URL(request.url, location.href).origin === location.origin) request.headers["X-API-Key"] = field.value
    return request
  }
})
