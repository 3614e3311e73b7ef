/** Versions, drafts, triggers, folders and dispositions of agents. */
import { Effect, Exit } from "effect"
import t from "tap"
import type { JsonObject } from "#core/Json.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { Agents } from "#core/agent/Agents.ts"
import type { AgentChanges } from "#core/agent/AgentEditing.ts"
import { FolderId } from "#core/folder/Folder.ts"
import { Folders } from "#core/folder/Folders.ts"
import { AgentId } from "#core/Id.ts"
import { firstPage } from "#core/Page.ts"
import * as given from "#test/support/given.ts"
import { fails, definition, install, makeAgent, ours, tag, theirs } from "./services.ts"

const { run, sql, test } = await install(t)
const [agents, versions, folders] = await run(Effect.all([Agents, AgentVersions, Folders]))
const update = (id: AgentId, changes: AgentChanges) => Agents.use((_) => _.update(ours, id, changes))
const versionsOf = (id: AgentId) =>
  Agents.use((_) => _.versions(ours, id, { limit: 100, offset: 0 })).pipe(
    Effect.map(({ rows }) => rows.map(({ versionNumber, versionStatus }) => `${versionNumber} ${versionStatus}`))
  )
const withTrigger = (trigger_path?: string): JsonObject => ({
  ...definition(),
  nodes: [...definition().nodes, { id: "t", type: "trigger", position: { x: 0, y: 0 }, data: { name: "T", trigger_path } }]
})
const byPath = (path: string, organizationId = ours) => Agents.use((_) => _.getByTrigger(organizationId, path))

t.test("given a draft", async (t) => {
  test(t, "when it is changed, then calls keep the published version until the draft is published", function* (t) {
    const { id, currentDefinitionId } = yield* makeAgent()
    const draft = yield* agents.createDraft(ours, id)
    const same = yield* agents.createDraft(ours, id)
    const changed = yield* update(id, { definition: definition("Draft.") })
    const again = yield* update(id, { configurations: { max_call_duration: 60 } })
    const before = { called: yield* agents.get(ours, id), versions: yield* versionsOf(id) }
    const published = yield* agents.publish(ours, id)
    const after = { called: yield* agents.get(ours, id), versions: yield* versionsOf(id) }
    t.match(draft, { versionNumber: 2, versionStatus: "draft", publishedAt: null })
    t.equal(same.definitionId, draft.definitionId)
    t.match(changed, { versionNumber: 3, versionStatus: "draft", currentDefinitionId: currentDefinitionId })
    t.match(again, { versionNumber: 4, definition: definition("Draft."), configurations: { max_call_duration: 60 } })
    t.match(before.called, { versionNumber: 1, definition: definition(), currentDefinitionId: currentDefinitionId })
    t.strictSame(before.versions, ["4 draft", "3 archived", "2 archived", "1 published"])
    t.match(published, { versionNumber: 4, versionStatus: "published" })
    t.match(after.called, {
      versionNumber: 4,
      currentDefinitionId: published.definitionId,
      configurations: { max_call_duration: 60 }
    })
    t.strictSame(after.versions, ["4 published", "3 archived", "2 archived", "1 archived"])
    t.equal(yield* tag(agents.publish(ours, id)), "AgentDraftMissing")
  })

  test(t, "when a call has used a version, then a later change leaves it unchanged", function* (t) {
    const { id, workflowUuid } = yield* makeAgent()
    const { definitionId } = yield* Agents.use((_) => _.createDraft(ours, id))
    yield* versions.get(definitionId)
    yield* update(id, { definition: definition("Later.") })
    const { draftDefinitionId } = yield* Agents.use((_) => _.getByUuid(ours, workflowUuid))
    const now = draftDefinitionId === null ? undefined : yield* versions.get(draftDefinitionId)
    t.strictSame([(yield* versions.get(definitionId)).definition, now?.definition], [definition(), definition("Later.")])
  })

  test(t, "when a version cannot be read once, then it is found the next time: a cut connection does not disable the agent", function* (t) {
    const definitionId = given.publishedOf(yield* makeAgent())
    yield* sql`ALTER TABLE agent_definitions RENAME TO out_of_reach`
    t.ok(Exit.isFailure(yield* Effect.exit(versions.get(definitionId))))
    yield* sql`ALTER TABLE out_of_reach RENAME TO agent_definitions`
    t.ok(Exit.isSuccess(yield* Effect.exit(versions.get(definitionId))))
  })

  test(t, "when its graph is not finished, then it is not published", function* (t) {
    const { id } = yield* makeAgent()
    yield* agents.createDraft(ours, id)
    yield* update(id, { definition: { nodes: [], edges: [] } })
    const refused = [yield* tag(agents.publish(ours, id)), yield* tag(agents.validate(ours, id))]
    yield* update(id, { definition: {} })
    const tags = [...refused, yield* tag(agents.validate(ours, id)), yield* tag(agents.publish(ours, id))]
    t.strictSame(
      tags,
      Array.from({ length: 4 }, () => "AgentInvalid")
    )
  })

  test(t, "when many create and publish one at the same time, then there is one of each", function* (t) {
    const { id } = yield* makeAgent()
    const drafts = yield* Effect.all(
      Array.from({ length: 6 }, () => agents.createDraft(ours, id)),
      { concurrency: 6 }
    )
    const published = yield* Effect.all(
      Array.from({ length: 6 }, () => tag(agents.publish(ours, id))),
      { concurrency: 6 }
    )
    t.strictSame([new Set(drafts.map(({ definitionId }) => definitionId)).size, published.filter((one) => one === "none").length], [1, 1])
  })
})

t.test("given API triggers", async (t) => {
  test(t, "when one is stored, then its agent is found by it, by its own organization alone", function* (t) {
    const agent = yield* agents.create(ours, { name: "T", definition: withTrigger("spring") })
    const found = yield* byPath("spring")
    yield* agents.createDraft(ours, agent.id)
    yield* update(agent.id, { definition: withTrigger("summer") })
    const both = [yield* byPath("spring"), yield* byPath("summer")]
    yield* agents.publish(ours, agent.id)
    const after = yield* byPath("summer")
    const tags = [yield* tag(byPath("spring")), yield* tag(byPath("summer", theirs)), yield* tag(byPath("none"))]
    t.match(found, {
      id: agent.id,
      name: "T",
      status: "active",
      workflowUuid: agent.workflowUuid,
      publishedDefinitionId: agent.currentDefinitionId,
      draftDefinitionId: null,
      isPublished: true,
      isInDraft: false
    })
    t.match(both, [
      { isPublished: true, isInDraft: false },
      { isPublished: false, isInDraft: true }
    ])
    t.match(after, { isPublished: true, isInDraft: false })
    t.strictSame(new Set(tags), new Set(["AgentTriggerNotFound"]))
  })

  test(t, "when one is turned off, then its path still belongs to the agent, and no version has it", function* (t) {
    const { id } = yield* Agents.use((_) => _.create(ours, { name: "Off", definition: withTrigger("off") }))
    const [start] = definition().nodes
    const off = { id: "t", type: "trigger", position: { x: 0, y: 0 }, data: { name: "T", enabled: false, trigger_path: "off" } }
    yield* update(id, { definition: { nodes: [start, off], edges: [] } })
    t.match(yield* byPath("off"), { isPublished: false, isInDraft: false })
  })

  test(
    t,
    "when the path is another agent's, then it counts as taken within the organization, and is not revealed to others",
    function* (t) {
      const { id } = yield* agents.create(ours, { name: "A", definition: withTrigger("mine") })
      yield* agents.setStatus(ours, id, "archived")
      const other = yield* makeAgent()
      const tags = [
        yield* tag(agents.create(theirs, { name: "B", definition: withTrigger("mine") })),
        yield* tag(agents.create(ours, { name: "B", definition: withTrigger("mine") })),
        yield* tag(update(other.id, { name: "Renamed", definition: withTrigger("mine") })),
        yield* tag(update(id, { definition: withTrigger("mine") }))
      ]
      const unchanged = yield* agents.get(ours, other.id)
      yield* update(id, { definition: definition() })
      t.strictSame(tags, ["none", "AgentTriggerTaken", "AgentTriggerTaken", "none"])
      t.match(unchanged, { name: "Ada", versionNumber: 1 })
      t.equal(yield* tag(agents.create(ours, { name: "B", definition: withTrigger("mine") })), "none")
    }
  )

  test(t, "when two agents repeatedly swap their paths at the same time, then nobody waits forever", function* (t) {
    const a = yield* agents.create(ours, { name: "A", definition: withTrigger("left") })
    const b = yield* agents.create(ours, { name: "B", definition: withTrigger("right") })
    const tags = yield* Effect.all(
      Array.from({ length: 10 }, (_, i) => [
        tag(update(a.id, { definition: withTrigger(i % 2 === 0 ? "right" : "left") })),
        tag(update(b.id, { definition: withTrigger(i % 2 === 0 ? "left" : "right") }))
      ]).flat(),
      { concurrency: 8 }
    )
    const others = tags.filter((one) => one !== "none" && one !== "AgentTriggerTaken")
    t.strictSame(others, [])
  })

  t.test("when an agent is copied, then the copy has a path of its own, and is otherwise the same", async (t) => {
    const made = await run(function* () {
      const { id } = yield* agents.create(ours, {
        name: "A",
        definition: withTrigger("origin"),
        configurations: { model_overrides: { llm: { api_key: "sk-1234567" } } }
      })
      const copy = yield* agents.duplicate(ours, id)
      const path = JSON.stringify(copy.definition).match(/"trigger_path":"([^"]*)"/)?.[1] ?? ""
      return { copy, found: (yield* byPath(path)).id, origin: (yield* byPath("origin")).id, id }
    })
    t.match(made.copy, { name: "A - Duplicate", versionNumber: 1, configurations: { model_overrides: { llm: { api_key: "sk-1234567" } } } })
    t.strictSame([made.found, made.origin], [made.copy.id, made.id])
  })
})

test(t, "given masked secrets that are sent back, then the stored ones stay", function* (t) {
  const { id } = yield* makeAgent()
  yield* update(id, { configurations: { model_overrides: { llm: { api_key: "sk-12345678" } } } })
  const stored = yield* update(id, { configurations: { model_overrides: { llm: { api_key: "*******5678", model: "m" } } } })
  t.strictSame(stored.configurations, { model_overrides: { llm: { api_key: "sk-12345678", model: "m" } } })
})

test(t, "given folders, when an agent is put into one, then it is there until the folder is deleted", function* (t) {
  const { id } = yield* makeAgent()
  const folder = yield* folders.create(ours, "Spring")
  const foreign = yield* folders.create(theirs, "Spring")
  t.equal((yield* agents.setFolder(ours, id, folder.id)).folderId, folder.id)
  yield* fails(t, [
    ["FolderNameTaken", folders.create(ours, "Spring")],
    ["FolderNotFound", folders.rename(theirs, folder.id, "Mine")],
    ["FolderNotFound", folders.remove(theirs, folder.id)],
    ["FolderNotFound", agents.setFolder(ours, id, foreign.id)],
    ["FolderNotFound", agents.setFolder(ours, id, FolderId.make(99_999))],
    ["AgentNotFound", agents.setFolder(theirs, id, foreign.id)],
    ["AgentNotFound", agents.setFolder(ours, AgentId.make(99_999), null)]
  ])
  t.equal((yield* agents.get(ours, id)).folderId, folder.id)
  yield* folders.remove(ours, folder.id)
  t.equal((yield* agents.get(ours, id)).folderId, null)
  t.strictSame(yield* folders.list(ours, firstPage), [])
})

test(t, "given finished runs, then their agent has collected their dispositions, each once", function* (t) {
  const organizationId = yield* given.organization()
  const { agentId, definitionId } = yield* given.agent(organizationId)
  yield* sql`
        INSERT INTO runs (organization_id, agent_id, agent_definition_id, attempt_id, name, mode, initial_context)
        SELECT ${organizationId}::int, ${agentId}::int, ${definitionId}::int, gen_random_uuid(), 'run', 'fake', '{}' FROM generate_series(1, 300)`
  const none = yield* agents.dispositionCodes(organizationId)
  yield* sql`
        UPDATE runs SET is_completed = true, gathered_context = CASE id % 3 WHEN 0 THEN NULL ELSE
          jsonb_build_object('call_disposition', CASE id % 3 WHEN 1 THEN 'user_hangup' ELSE 'callback' END) END
        WHERE agent_id = ${agentId}`
  const learned = (yield* agents.get(organizationId, agentId)).dispositionCodes
  yield* sql`UPDATE runs SET is_completed = false WHERE agent_id = ${agentId}`
  yield* sql`
        UPDATE runs SET is_completed = true, gathered_context = jsonb_build_object('call_disposition', repeat('x', 200) || id)
        WHERE agent_id = ${agentId} AND id % 2 = 0`
  yield* sql`
        UPDATE runs SET is_completed = true, gathered_context = jsonb_build_object('call_disposition', 'free text ' || id)
        WHERE agent_id = ${agentId} AND NOT is_completed`
  yield* sql`UPDATE runs SET is_completed = false WHERE agent_id = ${agentId}`
  yield* sql`
        UPDATE runs SET is_completed = true, gathered_context = jsonb_build_object('call_disposition', 'more ' || id) WHERE agent_id = ${agentId}`
  const most = yield* agents.dispositionCodes(organizationId)
  t.strictSame([none, learned, yield* agents.dispositionCodes(theirs)], [[], ["callback", "user_hangup"], []])
  t.equal(most.length, 200)
  t.ok(most.every((code) => code.length <= 100))
})
