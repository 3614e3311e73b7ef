/** Which engine answers a request, and what a client is told if none does. */
import { Effect, Stream } from "effect"
import t from "tap"
import type { Passage, PassedRequest } from "#core/node/DecidingEngine.ts"
import { type Asked, type Endpoint, json, type Reply } from "#gateway/http/Endpoint.ts"
import { passing } from "#gateway/http/passing.ts"
import { run } from "#test/support/run.ts"

const endpoint: Endpoint<never> = {
  answer: () => Effect.succeed(json(200, "here")),
  body: "bytes",
  bodyLimit: 100,
  hasQuery: true,
  headers: ["x-api-key"],
  method: "post",
  path: "/api/v1/campaign/:campaign_id/contacts/:row_no",
  refusal: () => undefined
}
const asked: Asked = {
  bytes: Buffer.from("{}"),
  client: { address: "203.0.113.9" },
  headers: { "x-api-key": "a-key" },
  id: "request-1",
  params: { campaign_id: "7", row_no: "a/b?c" },
  query: "x=1",
  stream: Stream.empty
}

interface Case {
  readonly by: "every" | "decider" | "this"
  readonly isHere?: boolean
  readonly mayRead?: boolean
  readonly isPassedOn?: boolean
  readonly passage?: Passage
}

const answerOf = async ({ by, isHere = false, isPassedOn = false, mayRead = false, passage = { _tag: "Nobody" } }: Case) => {
  const passed: Array<PassedRequest> = []
  const deciding = {
    clientOf: () => undefined,
    follow: () => Stream.empty,
    isHere: () => isHere,
    mayRead: () => mayRead,
    mayWatch: () => false,
    pass: (request: PassedRequest) =>
      Effect.as(
        Effect.sync(() => passed.push(request)),
        passage
      )
  }
  const client = isPassedOn ? { ...asked.client, isPassedOn } : asked.client
  const { body, status } = await run(passing(endpoint, by, deciding).answer({ ...asked, client }))
  return { passed, said: `${status} ${body}` }
}

const reply: Reply & { readonly body: string } = { body: "there", headers: [], status: 201 }
const cases: ReadonlyArray<readonly [what: string, given: Case, said: RegExp, times: 0 | 1]> = [
  ["what is asked about this engine, then this one", { by: "this" }, /^200 "here"/, 0],
  ["a change, if this engine decides, then this one", { by: "decider", isHere: true }, /^200 "here"/, 0],
  ["a change, then the other one", { by: "decider", mayRead: true, passage: { _tag: "Answered", reply } }, /^201 there/, 1],
  ["what only reads, if this engine may, then this one", { by: "every", mayRead: true }, /^200 "here"/, 0],
  ["what only reads, otherwise the other one", { by: "every", passage: { _tag: "Answered", reply } }, /^201 there/, 1],
  ["a change, if meanwhile this engine decides, then this one", { by: "decider", passage: { _tag: "Here" } }, /^200 "here"/, 1],
  ["a change, if the other engine was lost, then nobody knows", { by: "decider", passage: { _tag: "Lost" } }, /^502 .*Idempotency-Key/, 1],
  ["a change, if none decides, then nobody", { by: "decider" }, /^503 .*try again/, 1],
  ["a change that was passed on to this one, then nobody, and it goes no further", { by: "decider", isPassedOn: true }, /^503 /, 0],
  ["what only reads and was passed on, then this one if it may", { by: "every", isPassedOn: true, mayRead: true }, /^200 "here"/, 0]
]
for (const [what, given, said, times] of cases)
  t.test(`given ${what} answers`, async (t) => {
    const answer = await answerOf(given)
    t.match(answer.said, said)
    t.equal(answer.passed.length, times)
  })

t.test("given a request that is passed on, then its path leads to the same place", async (t) => {
  const { passed } = await answerOf({ by: "decider" })
  const path = "/api/v1/campaign/7/contacts/a%2Fb%3Fc?x=1"
  const { bytes: body, headers, id } = asked
  t.strictSame(passed, [{ address: "203.0.113.9", body, headers, id, method: "POST", path }])
})
