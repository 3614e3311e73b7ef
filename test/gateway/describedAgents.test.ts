/** Agents from a short description, as the existing product's first screen requests them. */
import t from "tap"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, upload } = await openApi(t)

const describe = (use_case: string, activity_description: string, call_type = "outbound") =>
  ask("POST", "/workflow/create/template", { call_type, use_case, activity_description })

t.test("given a description of an agent", async (t) => {
  for (const [useCase, activity, template] of [
    ["Dentist", "Call patients the day before and remind them of their appointment.", "Appointment reminder"],
    ["Solar", "Find out whether the prospect is interested in our panels and has a budget.", "Lead qualification"],
    ["Hotel", "Ask guests for feedback, and a rating of their stay.", "Satisfaction survey"],
    ["客服", "…", "Lead qualification"]
  ] as const) {
    await t.test(`when an agent for ${useCase} is created, then it is the ${template}, published, and any list will do`, async (t) => {
      const agent = bodyOf(await describe(useCase, activity))
      t.match(agent, { name: `${useCase} (from the template ${template})`, version_status: "published", version_number: 1 })
      t.ok(JSON.stringify(agent["workflow_definition"]).includes(activity), "then the description is in its prompt")
      t.match((await ask("POST", `/workflow/${agent.id}/validate`)).json, { is_valid: true })
      const source_id = await upload("phone_number\n+15550100001\n")
      t.equal((await ask("POST", "/campaign/create", { name: "c", workflow_id: agent.id, source_type: "csv", source_id })).status, 200)
    })
  }

  await t.test("when the description is invalid, then 422", async (t) => {
    t.equal((await describe("", "x")).status, 422)
    t.equal((await describe("x", "y".repeat(20_001))).status, 422)
    t.equal((await describe("x", "y", "sideways")).status, 422)
    t.equal((await describe("x", "y", "inbound")).status, 200)
  })
})
