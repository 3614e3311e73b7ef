import fc from "fast-check"
import t from "tap"
import { webhookNodeOf } from "#core/agent/WebhookNode.ts"
import { NodeWebhookId } from "#core/webhook/NodeWebhook.ts"
import { headersOf, renderRequest, type ToldRun } from "#core/webhook/NodeWebhookRequest.ts"
import { isSecretName } from "#core/credential/secretHeader.ts"
import { outcomeOf } from "#core/webhook/NodeWebhookTries.ts"
import { AgentId, CampaignId, RunId } from "#core/Id.ts"
import { credentialHeader } from "#core/credential/credentialHeader.ts"
import { forAllOf } from "#test/support/forAll.ts"

const run: ToldRun = {
  id: RunId.make(41),
  name: "WR-API-1",
  agentId: AgentId.make(7),
  agentName: "Reminder",
  campaignId: CampaignId.make(3),
  createdAt: new Date(Date.UTC(2026, 2, 8, 13, 30, 5)),
  initialContext: { first_name: "Ada", phone_number: "+15550000001", cart: { total: 12.5, items: ["a"] } },
  gatheredContext: { call_disposition: "user_hangup", key: "city" },
  usageInfo: { call_duration_seconds: 12.6 },
  costInfo: { total_cost_usd: 0.025 },
  annotations: undefined,
  transcriptKey: undefined,
  recordingKey: "recordings/41.wav"
}
const addresses = { recording: "https://example.com/r", transcript: undefined }
const nodeOf = (data: object) => webhookNodeOf({ id: "w", type: "webhook", data }) ?? t.fail("no node")
const rendered = (data: object, method: "POST" | "GET" | "DELETE" | "PUT" | "PATCH" = "POST", of: ToldRun = run) => {
  const node = nodeOf(data)
  return typeof node === "boolean" ? undefined : renderRequest(node, method, of, addresses, 0)
}
const payloadOf = (payload_template: unknown, of?: ToldRun): unknown => {
  const body = rendered({ payload_template }, "POST", of)?.body
  return body === undefined ? undefined : JSON.parse(body)
}

t.test("given a webhook node, when it is read, then what is missing or malformed is reported", async (t) => {
  t.match(nodeOf({}), { id: "w", name: "", method: "POST", url: "", credentialUuid: undefined, headers: [], payload: {} })
  t.match(nodeOf({ http_method: "DELETE", endpoint_url: " https://a.example ", credential_uuid: "" }), {
    method: "DELETE",
    url: "https://a.example",
    credentialUuid: undefined
  })
  t.match(nodeOf({ http_method: "BREW", endpoint_url: 5, custom_headers: "x", payload_template: null }), {
    method: undefined,
    url: "",
    headers: [],
    payload: {}
  })
  const rows = [{ key: "A", value: "1" }, { key: "", value: "2" }, { key: "B" }, null, { key: "C", value: 3 }]
  t.match(nodeOf({ custom_headers: rows }), { headers: [["A", "1"]] })
  t.equal(webhookNodeOf({ id: "w", type: "qa" }), undefined)
})

t.test("given a payload template", async (t) => {
  t.test("when there is none, then only the disposition is sent", async (t) => {
    t.strictSame(payloadOf(undefined), { call_disposition: "user_hangup" })
    t.strictSame(payloadOf({}, { ...run, gatheredContext: undefined }), { call_disposition: "" })
  })

  t.test("when it sets the disposition itself, also under a rendered name, then that value stays", async (t) => {
    t.strictSame(payloadOf({ call_disposition: "mine" }), { call_disposition: "mine" })
    t.strictSame(payloadOf({ "call_{{missing | disposition}}": 1 }), { call_disposition: 1 })
  })

  t.test("when it names every variable, then each is there as text", async (t) => {
    const values = {
      workflow_run_id: "41",
      workflow_run_name: "WR-API-1",
      workflow_id: "7",
      workflow_name: "Reminder",
      campaign_id: "3",
      call_time: "2026-03-08T13:30:05.000Z",
      "initial_context.first_name": "Ada",
      "initial_context.cart.total": "12.5",
      "initial_context.cart": '{"total":12.5,"items":["a"]}',
      "gathered_context.call_disposition": "user_hangup",
      "cost_info.call_duration_seconds": "12.6",
      "cost_info.total_cost_usd": "0.025",
      "annotations.tags": "",
      "extra.anything": "",
      recording_url: "https://example.com/r",
      transcript_url: "",
      user_recording_url: "",
      bot_recording_url: ""
    }
    t.strictSame(payloadOf(Object.keys(values).map((name) => `{{${name}}}`)), Object.values(values))
  })

  t.test("when it is nested, then texts and names are rendered at every depth, and everything else stays", async (t) => {
    t.strictSame(
      payloadOf({ a: [{ "{{gathered_context.key}}": "{{initial_context.first_name}}!" }, 5, true, null], call_disposition: null }),
      { a: [{ city: "Ada!" }, 5, true, null], call_disposition: null }
    )
    t.strictSame(payloadOf(["{{workflow_id}}"]), ["7"], "what is no object gets no disposition")
  })

  t.test("when it would become too long or is too deep, then it is refused early", async (t) => {
    const long = { ...run, initialContext: { text: "x".repeat(1000) } }
    t.equal(payloadOf("{{initial_context.text}}".repeat(1100), long), undefined)
    t.equal(String(payloadOf("{{initial_context.text}}".repeat(900), long)).length, 900_000)
    t.equal(payloadOf(Array.from({ length: 200 }).reduce((inner) => [inner], "x")), undefined)
    const huge = { ...run, initialContext: { text: "x".repeat(1_000_000) } }
    t.equal(payloadOf({ a: "{{initial_context}}".repeat(50_000) }, huge), undefined)
    t.equal(rendered({ custom_headers: [{ key: "A", value: "{{initial_context}}" }] }, "GET", huge), undefined)
  })
})

t.test("given methods without a body, when they are rendered, then there is none", async (t) => {
  for (const method of ["GET", "DELETE"] as const) t.equal(rendered({ payload_template: { a: 1 } }, method)?.body, undefined)
  for (const method of ["POST", "PUT", "PATCH"] as const) t.type(rendered({}, method)?.body, "string")
})

t.test("given a node's own headers", async (t) => {
  const own = (...headers: ReadonlyArray<readonly [string, string]>) =>
    rendered({ custom_headers: headers.map(([key, value]) => ({ key, value })) })?.headers

  t.test("when they have variables, then they are rendered, on one line", async (t) => {
    const told = { ...run, initialContext: { first_name: "Ada\r\nX-Evil: 1" } }
    t.strictSame(own(["X-Name", "Dear {{initial_context.first_name}}"]), [["X-Name", "Dear Ada"]])
    t.strictSame(rendered({ custom_headers: [{ key: "X-Name", value: "{{initial_context.first_name}}" }] }, "POST", told)?.headers, [
      ["X-Name", "AdaX-Evil: 1"]
    ])
  })

  t.test("when they look like a secret, are not valid headers, or frame the message, then they are dropped", async (t) => {
    const secrets = ["Authorization", "X-Api-Key", "x_apikey", "X-Auth", "X-AuthToken", "Cookie", "My-Secret", "Password", "X-Access-Key"]
    for (const name of secrets) t.ok(isSecretName(name), name)
    for (const name of ["X-Source", "Idempotency-Key", "X-Author", "Content-Type", "X-Passage"]) t.notOk(isSecretName(name), name)
    t.strictSame(own(["Authorization", "x"], ["a b", "x"], ["Host", "x"], ["Content-Length", "0"], ["X-Kept", "x"]), [["X-Kept", "x"]])
  })
})

t.test("given all headers of a request", async (t) => {
  const delivered = { id: NodeWebhookId.make("d1"), runId: 41, attempt: 2 }
  const bearer = credentialHeader("bearer_token", { token: "t0" })

  t.test("when they are put together, then the credential and ours win", async (t) => {
    t.strictSame(
      headersOf(
        [
          ["X-Source", "é"],
          ["content-type", "application/x"],
          ["x-dograh-delivery-id", "no"]
        ],
        bearer,
        delivered
      ),
      {
        "User-Agent": "Trunkline-Webhooks",
        "content-type": "application/x",
        "X-Source": "Ã©",
        Authorization: "Bearer t0",
        "X-Dograh-Delivery-Id": "d1",
        "X-Dograh-Workflow-Run-Id": "41",
        "X-Dograh-Delivery-Attempt": "2"
      }
    )
    t.match(headersOf([], undefined, delivered), { "Content-Type": "application/json" })
  })

  t.test("when the credential makes no valid header, then nothing is sent", async (t) => {
    t.equal(headersOf([], ["bad name", "x"], delivered), undefined)
    t.equal(headersOf([], ["X-Key", "a\nb"], delivered), undefined)
    t.equal(headersOf([], ["Transfer-Encoding", "chunked"], delivered), undefined)
  })

  t.test("when credentials are of each type, then each sets its own header", async (t) => {
    t.strictSame(bearer, ["Authorization", "Bearer t0"])
    t.strictSame(credentialHeader("basic_auth", { username: "me", password: "pä" }), ["Authorization", "Basic bWU6cMOk"])
    t.strictSame(credentialHeader("api_key", { header_name: "X-Key", api_key: "k" }), ["X-Key", "k"])
    t.strictSame(credentialHeader("custom_header", { header_name: "X-A", header_value: "v" }), ["X-A", "v"])
    t.equal(credentialHeader("none", {}), undefined)
  })
})

t.test("given any text of a callee or a list, when a header is rendered from it, then it can be sent", async () => {
  forAllOf({ seed: 7 }, fc.string({ unit: "binary" }), (value) => {
    const headers = rendered({ custom_headers: [{ key: "A", value: "{{initial_context.x}}" }] }, "GET", {
      ...run,
      initialContext: { x: value }
    })?.headers
    const all = headers && headersOf(headers, undefined, { id: NodeWebhookId.make("d"), runId: 1, attempt: 1 })
    return all !== undefined && Object.values(all).every((one) => /^[\t\x20-\x7e\x80-\xff]*$/.test(one))
  })
})

t.test("given a delivery attempt", async (t) => {
  const waits = (answer: number | string) =>
    [1, 2, 3, 4, 5].map((tries) => {
      const { dueInMillis, state } = outcomeOf(answer, tries)
      return state === "pending" ? dueInMillis / 1000 : state
    })

  t.test("when the failure may be temporary, then it is retried after 30 s, doubling each time, five attempts in all", async (t) => {
    for (const answer of [408, 425, 429, 500, 502, 503, 504, "timeout", "connection_refused"]) {
      t.strictSame(waits(answer), [30, 60, 120, 240, "dead_letter"], String(answer))
    }
  })

  t.test("when the answer is final, then it is dead-lettered at once", async (t) => {
    for (const answer of [302, 400, 401, 404, 410, 501, "address_not_public"])
      t.equal(outcomeOf(answer, 1).state, "dead_letter", String(answer))
    t.match(outcomeOf(404, 1), { status: 404, error: "status_404" })
    t.match(outcomeOf("timeout", 5), { status: undefined, error: "timeout" })
  })

  t.test("when it is accepted, then there is no retry", async (t) => {
    for (const status of [200, 201, 204, 299]) t.match(outcomeOf(status, 5), { state: "succeeded", status, error: undefined })
  })
})
