/** The API key, the first steps, and the reference below them. Runs in a browser, and loads nothing from elsewhere. */
import { base, curl, typescript } from "./examples.js"
import { showGuide } from "./guide.js"

const field = document.getElementById("key")
const caller = document.getElementById("caller")

const showCaller = async () => {
  if (field.value === "") return void (caller.value = "")
  const answer = await fetch(`${base}/organizations/context`, { headers: { "X-API-Key": field.value } })
  caller.value = answer.ok ? "The key works." : `The key is refused (${answer.status}).`
}
const entered = () => {
  sessionStorage.setItem("api-key", field.value)
  void showCaller()
}
field.addEventListener("change", entered)
// The reader may have entered a key before this script ran.
if (field.value === "") field.value = sessionStorage.getItem("api-key") ?? ""
entered()

showGuide(document.getElementById("steps"), () => field.value)

/** Shows above the responses of each operation how to call it from other programs. */
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

const reference = globalThis.SwaggerUIBundle({
  url: "/api/v1/openapi.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  // Otherwise Swagger UI sends the document to an external validator.
  validatorUrl: null,
  plugins: [examples],
  // Swagger UI draws only what is near the window. Until the reference has been drawn, its position is unknown, and scrolling to the operation
  // in the URL would end too high up.
  onComplete: () => {
    const goThere = () => reference.layoutActions.parseDeepLinkHash(location.hash)
    requestAnimationFrame(() => requestAnimationFrame(goThere))
    // The guide above may grow: a resize event makes Swagger UI measure its position again.
    new ResizeObserver(() => dispatchEvent(new Event("resize"))).observe(document.getElementById("guide"))
  },
  requestInterceptor: (request) => {
    if (field.value !== "" && new URL(request.url, location.href).origin === location.origin) request.headers["X-API-Key"] = field.value
    return request
  }
})
