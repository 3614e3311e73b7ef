/** The audit log used to say nothing of log-ins, wrong passwords, who listened to recordings, or where requests came from. */
import t from "tap"
import { bodyOf, openApi } from "#test/gateway/apiTest.ts"
import { bearer, type Sent } from "#test/gateway/gatewayTest.ts"

const api = await openApi(t)
const nobody: Sent = { key: null }
const account = { email: "ada@example.org", password: "correct horse" }
const log = async (sent: Sent = {}) => api.ask("GET", "/organizations/audit-log", undefined, sent)

t.test("given an account, when somebody logs in or fails to, then its organization can read that, with the address", async (t) => {
  const { token, user } = bodyOf(await api.ask("POST", "/auth/signup", account, nobody))
  const id = Reflect.get(Object(user), "id")
  await api.ask("POST", "/auth/login", { ...account, password: "wrong horse" }, nobody)
  await api.ask("POST", "/auth/login", { email: "nobody@example.org", password: "wrong horse" }, nobody)
  await api.ask("POST", "/auth/login", account, nobody)
  const entries = await log(bearer(token))
  const entry = { resource_kind: "accounts", resource_id: String(id), user_email: account.email, address: "127.0.0.1" }
  t.match(entries.json, {
    entries: [
      { action: "logIn", ...entry },
      { action: "logInRefused", ...entry }
    ]
  })
  t.notMatch(entries.text, /horse|nobody@/)
  t.notMatch((await log()).text, /ada@example/, "another organization's is not")
})

t.test("given a call with a recording and a transcript, when somebody reads them, then that is noted, without their content", async (t) => {
  const agent = await api.makeAgent()
  await api.writeFile("transcripts/read.txt", "Zq7canary +15550177")
  await api.writeFile("recordings/read.wav", "RIFF Zq7canary")
  const run = await api.makeRun(agent.id, { transcript_key: "transcripts/read.txt", recording_key: "recordings/read.wav" })
  const path = `/workflow/${agent.id}/runs/${run}`
  t.match((await api.ask("GET", `${path}/transcript`)).text, "Zq7canary")
  t.match(await api.ask("GET", `${path}/recording`), { status: 200, text: "RIFF Zq7canary" })
  const { public_access_token } = bodyOf(await api.ask("GET", path))
  for (const kind of ["transcript", "recording"]) {
    const link = `/public/download/workflow/${String(public_access_token)}/${kind}`
    t.equal((await api.ask("GET", link, undefined, nobody)).status, 302)
  }
  await api.ask("GET", `/s3/signed-url?key=transcripts/${run}.txt`)
  await api.ask("GET", `/s3/signed-url?key=recordings/${run}.wav`)
  const entries = await log()
  const entry = { resource_kind: "runs", resource_id: String(run), address: "127.0.0.1" }
  t.match(entries.json, {
    entries: [
      ...["getSignedUrl", "getSignedUrl"].map((action) => ({ action, ...entry, api_key_name: "test" })),
      ...["downloadArtifact", "downloadArtifact"].map((action) => ({ action, ...entry, user_id: null, api_key_id: null })),
      ...["getRunRecording", "getRunTranscript"].map((action) => ({ action, ...entry, api_key_name: "test" })),
      { action: "createWorkflow", address: "127.0.0.1" }
    ]
  })
  t.notMatch(entries.text, /Zq7canary|15550177/)
})

t.test("given a call without a recording, when somebody requests it, then nothing is noted", async (t) => {
  const agent = await api.makeAgent()
  t.equal((await api.ask("GET", `/workflow/${agent.id}/runs/2147483000/recording`)).status, 404)
  t.notMatch((await log()).text, "2147483000")
})
