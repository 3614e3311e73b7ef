/** Folders of agents. */
import t from "tap"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, askAsOther, makeAgent } = await openApi(t)

t.test("given folders", async (t) => {
  t.test("when they are created, renamed and deleted, then the list shows it, by name", async (t) => {
    const summer = bodyOf(await ask("POST", "/folder/", { name: "  Summer " }))
    t.match(summer, { name: "Summer", created_at: /Z$/ })
    const spring = bodyOf(await ask("POST", "/folder/", { name: "Spring" }))
    t.strictSame((await ask("GET", "/folder/")).json, [spring, summer])
    t.match((await ask("PUT", `/folder/${spring.id}`, { name: "Winter" })).json, { id: spring.id, name: "Winter" })
    t.strictSame((await ask("DELETE", `/folder/${spring.id}`)).json, { success: true })
    t.strictSame((await ask("GET", "/folder/")).json, [summer])
    t.strictSame((await askAsOther("GET", "/folder/")).json, [])
  })

  t.test("when a name is taken, blank or too long, then it is refused", async (t) => {
    const first = bodyOf(await ask("POST", "/folder/", { name: "First" }))
    const second = bodyOf(await ask("POST", "/folder/", { name: "Second" }))
    t.match(await ask("POST", "/folder/", { name: "First" }), {
      status: 409,
      json: { detail: "A folder with the name 'First' already exists" }
    })
    t.match(await ask("PUT", `/folder/${second.id}`, { name: "First" }), { status: 409 })
    t.match(await ask("PUT", `/folder/${first.id}`, { name: "First" }), { status: 200 })
    for (const name of ["", "   ", "x".repeat(101), null, 7]) t.match(await ask("POST", "/folder/", { name }), { status: 422 })
  })

  t.test("when an agent is in one that is deleted, then the agent stays", async (t) => {
    const agent = await makeAgent()
    const { id } = bodyOf(await ask("POST", "/folder/", { name: "Goes" }))
    const put = (folder_id: unknown) => ask("PUT", `/workflow/${agent.id}/folder`, { folder_id })
    t.match(await put(id), { status: 200, json: { id: agent.id, folder_id: id } })
    t.match(await put(999_999), { status: 404, json: { detail: "Folder with id 999999 not found" } })
    await ask("DELETE", `/folder/${id}`)
    t.match((await ask("GET", "/workflow/fetch")).json, [{ id: agent.id, folder_id: null }])
    t.match(await put(null), { status: 200 })
  })
})
