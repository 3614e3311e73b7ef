/** The check of answers finds answers that are not as documented. */
import t from "tap"
import Type from "typebox"
import { Effect } from "effect"
import { route } from "#gateway/request/Route.ts"
import { judgeOf } from "./documented.ts"
import type { Answer } from "./gatewayTest.ts"

const thing = (path: string) =>
  route({
    method: "get",
    path,
    name: path.replaceAll(/\W/g, ""),
    summary: "A thing",
    description: "With its parts.",
    params: Type.Object({}),
    success: Type.Object({
      id: Type.Integer(),
      parts: Type.Array(Type.Object({ at: Type.String({ format: "date-time" }) }, { title: "Part" }))
    }),
    errors: ["CampaignNotFound"],
    handle: () => Effect.succeed({ id: 1, parts: [] })
  })
const judge = judgeOf([thing("/things/:thing_id"), { ...thing("/things/new"), errors: [] }])

const answer = (status: number, json: unknown, type = "application/json"): Answer => ({
  status,
  headers: { "content-type": type },
  text: JSON.stringify(json),
  json
})
const check = (path: string, given: Answer, expected: RegExp | undefined) => {
  const fault = judge("GET", path, given)
  if (expected === undefined) t.equal(fault, undefined, JSON.stringify(given.json))
  else t.match(fault, expected)
}

const part = { at: "2026-01-01T00:00:00Z" }

check("/things/1", answer(200, { id: 1, parts: [part] }), undefined)
check("/things/1?a=b", answer(404, { detail: "Campaign not found" }), undefined)
check("/things/1", answer(200, { id: 1 }), /required property 'parts'/)
check("/things/1", answer(200, { id: 1, parts: [], more: 1 }), /additional properties/)
check("/things/1", answer(200, { id: 1, parts: [{ ...part, more: 1 }] }), /additional properties/)
check("/things/1", answer(200, { id: 1, parts: [{ at: "today" }] }), /date-time/)
check("/things/1", answer(404, { detail: "a", more: 1 }), /additional properties/)
check("/things/1", answer(418, { detail: "a" }), /does not document 418/)
check("/things/1", answer(200, { id: 1, parts: [] }, "text/html"), /does not document text\/html/)
check("/things/new", answer(404, { detail: "a" }), /new does not document 404/)
check("/nowhere", answer(404, { detail: "Not Found" }), undefined)
check("/nowhere", answer(200, {}), /nobody takes it/)
