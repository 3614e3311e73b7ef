/**
 * The first steps, from an API key to a campaign. Each can be edited and sent from the page, and shows how to send it from other programs.
 * Values from the answers go into the later steps. Runs in a browser.
 */
import { base, curl, typescript } from "./examples.js"

/** Values from the answers so far; until then, placeholders that the reader replaces. */
const known = { agent: 1, campaign: 1, fileKey: "the file_key of step 3", upload: "/uploads/the-token-of-step-3" }
const account = {
  provider: "ari",
  ari_endpoint: "http://127.0.0.1:8088",
  app_name: "trunkline",
  app_password: "secret",
  dial_string: "PJSIP/{number}@my-trunk"
}

const steps = [
  {
    text: 'Connect your Asterisk; or, to try things out and call nobody, send the config { provider: "simulated" }.',
    method: "post",
    path: () => "/organizations/telephony-configs",
    body: () => ({ name: "pbx", is_default_outbound: true, config: account })
  },
  {
    text: "Create an agent from a template.",
    method: "post",
    path: () => "/workflow/create/template",
    body: () => ({ call_type: "outbound", use_case: "Dentist", activity_description: "Remind patients of tomorrow's appointment." }),
    learn: ({ id }) => Object.assign(known, { agent: id })
  },
  {
    text: "Get a URL to upload the list of contacts to. The size is an upper limit.",
    method: "post",
    path: () => "/s3/presigned-upload-url",
    body: () => ({ file_name: "people.csv", file_size: 100_000, content_type: "text/csv" }),
    learn: ({ file_key, upload_url }) => {
      const { pathname, search } = new URL(upload_url)
      Object.assign(known, { fileKey: file_key, upload: `${pathname}${search}`.replace("/api/v1", "") })
    }
  },
  {
    text: "Upload the list: a column phone_number in E.164, and any others, which the agent's texts may refer to.",
    method: "put",
    path: () => known.upload,
    body: () => "phone_number,first_name\n+15550100001,Ada\n"
  },
  {
    text: "Create a campaign from both.",
    method: "post",
    path: () => "/campaign/create",
    body: () => ({ name: "Tomorrow", workflow_id: known.agent, source_type: "csv", source_id: known.fileKey }),
    learn: ({ id }) => Object.assign(known, { campaign: id })
  },
  { text: "Start it: from now on, phones ring.", method: "post", path: () => `/campaign/${known.campaign}/start` },
  { text: "Read its progress.", method: "get", path: () => `/campaign/${known.campaign}/progress` }
]

const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}
const folded = (title, content) => element("details", {}, element("summary", { textContent: title }), content)

/** The list element of a step, and the function that refreshes it. */
const shownStep = (step, keyOf, learned) => {
  const { learn, method, path, text } = step
  const body = step.body === undefined ? undefined : element("textarea", { spellcheck: false })
  const address = element("code", {})
  const send = element("button", { type: "button", textContent: "Send" })
  const [shell, script, answer] = [element("pre", {}), element("pre", {}), element("pre", { className: "answer" })]
  let isEdited = false

  const content = () => {
    if (body === undefined || typeof step.body() === "string") return body?.value
    try {
      return JSON.parse(body.value)
    } catch {
      // Not valid JSON while the reader is typing: shown and sent as it is.
      return body.value
    }
  }
  const showExamples = () => {
    address.textContent = `${method.toUpperCase()} /api/v1${path()}`
    shell.textContent = curl(method, path(), content())
    script.textContent = typescript(method, path(), content())
  }
  const refresh = () => {
    if (body !== undefined && !isEdited) {
      const given = step.body()
      body.value = typeof given === "string" ? given : JSON.stringify(given, null, 2)
      body.rows = body.value.split("\n").length
    }
    showExamples()
  }
  body?.addEventListener("input", () => {
    isEdited = true
    showExamples()
  })
  const sent = async () => {
    const type = typeof step.body?.() === "string" ? "text/csv" : "application/json"
    const headers = { "X-API-Key": keyOf(), ...(body === undefined ? {} : { "Content-Type": type }) }
    const response = await fetch(base + path(), { method: method.toUpperCase(), headers, body: body?.value })
    const got = await response.json()
    answer.textContent = `${response.status}\n${JSON.stringify(got, null, 2)}`
    if (response.ok) learn?.(got)
    if (response.ok) learned()
  }
  send.addEventListener("click", async () => {
    send.disabled = true
    answer.textContent = ""
    await sent().catch((error) => (answer.textContent = String(error)))
    send.disabled = false
  })
  const parts = [element("p", {}, address, " ", send), ...(body === undefined ? [] : [body]), answer]
  return { refresh, shown: element("li", {}, text, ...parts, folded("curl", shell), folded("TypeScript", script)) }
}

/** `keyOf` returns the API key at the time when a step is sent. */
export const showGuide = (list, keyOf) => {
  const shown = steps.map((step) => shownStep(step, keyOf, () => refresh()))
  const refresh = () => {
    for (const step of shown) step.refresh()
  }
  refresh()
  list.append(...shown.map((step) => step.shown))
}
