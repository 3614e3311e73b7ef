/** An organization probes which trigger paths the others have. */
import t from "tap"
import { ari, bodyOf, graph, openApi } from "#test/gateway/apiTest.ts"

const api = await openApi(t)
const withTrigger = (trigger_path: string) => ({
  name: "Agent",
  workflow_definition: {
    ...graph,
    nodes: [...graph.nodes, { id: "t", type: "trigger", position: { x: 0, y: 0 }, data: { name: "T", trigger_path } }]
  }
})
const create = "/workflow/create/definition"
const call = { phone_number: "+15550100001" }

t.test("given an agent with a trigger path of its own choice", async (t) => {
  const ours = await api.ask("POST", create, withTrigger("spring-sale"))
  t.equal(ours.status, 200)

  t.test("when another organization requests the path, then the answer is that for any unknown path", async (t) => {
    for (const way of ["/public/agent/", "/public/agent/test/"]) {
      const of = async (path: string) => {
        const { json, status } = await api.askAsOther("POST", way + path, call)
        return [status, json]
      }
      t.strictSame(await of("spring-sale"), await of("nobodys-path"))
    }
  })

  t.test("when another organization takes the same path, then it gets it, and each key calls its own agent", async (t) => {
    const theirs = await api.askAsOther("POST", create, withTrigger("spring-sale"))
    t.equal(theirs.status, 200)
    const taken = { status: 409, json: { detail: /^Trigger path is already in use/ } }
    t.match(await api.ask("POST", create, withTrigger("spring-sale")), taken, "within an organization it is taken")
    t.match(await api.ask("PUT", `/workflow/${(await api.makeAgent()).id}`, withTrigger("spring-sale")), taken)
    await api.ask("POST", "/organizations/telephony-configs", { name: "a", config: ari, is_default_outbound: true })
    t.equal((await api.ask("POST", "/public/agent/spring-sale", call)).status, 200)
    t.equal(api.dialed.at(-1)?.agentId, bodyOf(ours).id)
  })
})
