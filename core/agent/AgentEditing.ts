/**
 * The changes to an agent's versions, each in one transaction under the agent's lock. Without a draft, a change is published at once, unless
 * its graph is unfinished: then it is held as a draft, and the next finished graph is published. If somebody has begun a draft, a change
 * creates the next draft. The previous draft is archived, so that a test call keeps the version that it was placed with.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { FolderId } from "#core/folder/Folder.ts"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import * as organizationModels from "#core/model/ModelConfigurationStore.ts"
import { servicesOf } from "#core/model/ModelDocument.ts"
import { problemsWithOwn, type ServiceRules } from "#core/model/ServiceChecks.ts"
import { ownDocumentName, ownServicesName } from "#core/model/ServiceChoice.ts"
import { mostProblems } from "#core/Problem.ts"
import { within } from "#core/organization/QuotaStore.ts"
import {
  type Agent,
  type AgentContent,
  AgentDefinitionRefused,
  AgentDraftMissing,
  AgentNotFound,
  AgentTriggerTaken,
  type AgentVersionRecord,
  type GraphProblem
} from "./Agent.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { AgentConfigurationsRefused, problemsOf as configurationProblems, sparse } from "./AgentConfigurations.ts"
import * as Graph from "./AgentGraph.ts"
import { drawnFrom, maskedMessage, stillMasked, unmasked } from "#core/model/ModelSecrets.ts"
import { sizeProblems } from "./AgentSize.ts"
import * as agents from "./AgentStore.ts"
import * as triggers from "./AgentTriggerStore.ts"
import * as versions from "./AgentVersionStore.ts"
import { usesInAgent } from "#core/credential/CredentialHosts.ts"
import { settle } from "#core/credential/credentialUses.ts"
import { withoutEditorState } from "./EditorState.ts"
import { problemsOf } from "./GraphRules.ts"
import { missing, type ReferenceKind, referencesIn } from "./References.ts"
import { existing } from "./ReferenceStore.ts"
import { toolProblems, toolUuidsIn } from "./ToolNames.ts"
import * as TriggerPath from "./TriggerPath.ts"

type Sql = SqlClient.SqlClient

export interface NewAgent {
  readonly name: string
  readonly definition: JsonObject
  readonly configurations?: JsonObject | undefined
  readonly templateContextVariables?: JsonObject | undefined
  readonly folderId?: FolderId | null | undefined
}

/** Omitted fields stay unchanged. `configurations` and `templateContextVariables` are each replaced as a whole. */
export interface AgentChanges {
  readonly name?: string | undefined
  readonly definition?: JsonObject | undefined
  readonly configurations?: JsonObject | undefined
  readonly templateContextVariables?: JsonObject | undefined
}

/** A graph may be half a megabyte, and each pass over it takes milliseconds: this yields the thread in between. */
const nextStep = Effect.yieldNow

const refusedUnlessEmpty = (problems: AgentDefinitionRefused["problems"]) =>
  problems.length === 0 ? Effect.void : Effect.fail(new AgentDefinitionRefused({ problems }))

const notTooLarge = (content: AgentContent) => Effect.as(refusedUnlessEmpty(sizeProblems(content)), content)

/** Refuses a definition for its own faults, otherwise for those of the tools that it names. */
const refusedFor = (check: (definition: JsonObject) => ReadonlyArray<GraphProblem>) =>
  Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, definition: JsonObject) {
    yield* refusedUnlessEmpty(check(definition))
    const uuids = toolUuidsIn(definition)
    if (uuids.length === 0) return
    yield* refusedUnlessEmpty(toolProblems(definition, yield* agents.namedTools(sql, organizationId, uuids)))
  })
const storable = refusedFor(Graph.check)
const publishable = refusedFor(problemsOf)

/** Refuses a definition that could not be published, and one that refers to what calls would not find. */
export const complete = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, definition: JsonObject) {
  const own = yield* publishable(sql, organizationId, definition).pipe(
    Effect.as<ReadonlyArray<GraphProblem>>([]),
    Effect.catchTag("AgentDefinitionRefused", ({ problems }) => Effect.succeed(problems))
  )
  yield* nextStep
  yield* refusedUnlessEmpty([...own, ...(yield* missingIn(sql, organizationId, definition))].slice(0, mostProblems))
})

const missingIn = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, definition: JsonObject) {
  const references = referencesIn(definition)
  if (references.length === 0) return []
  const idsOf = (wanted: ReferenceKind) => [
    ...new Set(references.flatMap(({ id, kind }) => (kind === wanted && id !== undefined ? [id] : [])))
  ]
  const ids = { tool: idsOf("tool"), document: idsOf("document"), recording: idsOf("recording"), credential: idsOf("credential") }
  const found = new Set((yield* existing(sql, organizationId, ids)).map(({ id, kind }) => `${kind} ${id}`))
  return missing(definition, references, (kind, id) => found.has(`${kind} ${id}`))
})

/** Refuses a definition that would send a credential to a host which no administrator has allowed for it. */
const credentialsSettled = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, definition: JsonObject) {
  const refused = yield* settle(sql, organizationId, usesInAgent(definition))
  yield* refusedUnlessEmpty(refused.map(({ reason, use }) => Graph.problemAt(definition, use.path, reason)))
})

const configured = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: OrganizationId,
  rules: ServiceRules,
  sent: JsonObject,
  stored: JsonObject
) {
  const configurations = sparse(yield* withSecrets(sql, organizationId, sent, stored))
  const masks = stillMasked(configurations).map(({ name, path }) => ({ path, message: maskedMessage(name) }))
  const own = [...configurationProblems(configurations), ...masks]
  const problems = own.length > 0 ? own : yield* serviceProblems(sql, organizationId, rules, configurations)
  if (problems.length > 0) return yield* new AgentConfigurationsRefused({ problems })
  return configurations
})

/** The organization's services are only read if the agent chooses services or a language itself. */
const serviceProblems = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: OrganizationId,
  rules: ServiceRules,
  configurations: JsonObject
) {
  if (![ownDocumentName, ownServicesName, "embedded"].some((name) => isObject(configurations[name]))) return []
  return problemsWithOwn(rules, servicesOf(yield* organizationModels.find(sql, organizationId)), configurations)
})

/** An agent without models of its own is first edited from the organization's models, so the editor sends the masks of their secrets. */
const withSecrets = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, sent: JsonObject, stored: JsonObject) {
  const known = unmasked(sent, stored)
  const own = known[ownDocumentName]
  if (isObject(stored[ownDocumentName]) || !isObject(own) || stillMasked(own).length === 0) return known
  return { ...known, [ownDocumentName]: unmasked(own, (yield* organizationModels.find(sql, organizationId)) ?? {}) }
})

/** Puts the stored secrets back in place of their masks. Refuses to move a secret to another provider. */
const drawn = (sent: JsonObject, stored: JsonObject) => {
  const { content, keptBack } = drawnFrom(sent, stored)
  const problems = keptBack.map(({ name, path }) => Graph.problemAt(sent, path, maskedMessage(name)))
  return Effect.as(refusedUnlessEmpty(problems), content)
}

const inserted = Effect.fnUntraced(function* <Row, E, R>(rows: Effect.Effect<ReadonlyArray<Row>, E, R>) {
  const [row] = yield* rows
  return row ?? (yield* Effect.die("An inserted row was not returned"))
})

/** Whether the definition can be published as it is. */
const isFinished = (sql: Sql, organizationId: OrganizationId, definition: JsonObject) =>
  publishable(sql, organizationId, definition).pipe(
    Effect.as(true),
    Effect.catchTag("AgentDefinitionRefused", () => Effect.succeed(false))
  )

/** Creates an agent as a client sent it, so its settings are checked first. */
export const createFrom = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, agent: NewAgent, rules: ServiceRules) {
  const sent = agent.configurations
  const configurations =
    sent === undefined ? undefined : yield* Effect.catchTag(configured(sql, organizationId, rules, sent, {}), "SqlError", Effect.die)
  return yield* create(sql, organizationId, { ...agent, configurations })
})

export const create = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, agent: NewAgent) {
    yield* storable(sql, organizationId, agent.definition)
    yield* nextStep
    yield* credentialsSettled(sql, organizationId, agent.definition)
    const definition = yield* TriggerPath.withPaths(withoutEditorState(agent.definition), {})
    yield* nextStep
    const isHeld = !(yield* isFinished(sql, organizationId, definition))
    const { id } = yield* inserted(agents.insert(sql, organizationId, agent.name, agent.folderId ?? null))
    yield* within(sql, organizationId, "agents", 1)
    const { configurations = {}, templateContextVariables = {} } = agent
    const content = yield* notTooLarge({ definition, configurations, templateContextVariables })
    yield* nextStep
    const made = yield* save(sql, organizationId, id, { ...content, status: isHeld ? "draft" : "published", isHeld })
    return yield* agentWith(sql, made)
  },
  (create, sql) => Effect.catchTag(sql.withTransaction(create), "SqlError", Effect.die)
)

const save = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: AgentId, version: versions.NewVersion) {
  const made = yield* inserted(versions.insert(sql, organizationId, id, version))
  if (version.status === "published") yield* versions.makeCurrent(sql, organizationId, id, made.definitionId)
  yield* claimTriggers(sql, organizationId, id, version.definition)
  return { ...contentOf(version), ...made }
})

/** The response to a change, built without reading back the content, which may be half a megabyte. */
const agentWith = Effect.fnUntraced(function* (sql: Sql, version: AgentVersionRecord) {
  const agent = yield* inserted(agents.findBare(sql, version.organizationId, version.agentId))
  const { versionNumber, versionStatus } = version
  return { ...agent, ...contentOf(version), versionNumber, versionStatus } satisfies Agent
})

const claimTriggers = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: AgentId, definition: JsonObject) {
  if (TriggerPath.hasTrigger(definition)) yield* triggers.lock(sql, organizationId)
  if (!(yield* triggers.claim(sql, organizationId, id))) return yield* new AgentTriggerTaken()
})

const lock = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: AgentId) {
  const agent = yield* agents.lock(sql, organizationId, id)
  if (agent === undefined) return yield* new AgentNotFound({ id })
  const { publishedId } = agent
  const draft = yield* versions.findDraft(sql, organizationId, id)
  const latest = draft ?? (publishedId === null ? undefined : yield* versions.find(sql, organizationId, publishedId))
  return { draft, latest: latest ?? (yield* Effect.die(`Agent ${id} has no version`)), publishedId }
})

const transaction = <A, E, R, Rest extends ReadonlyArray<unknown>>(work: Effect.Effect<A, E, R>, sql: Sql, ..._: Rest) =>
  Effect.catchTag(sql.withTransaction(work), "SqlError", Effect.die)

/** Returns the agent if it has a new version. */
export const update = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: OrganizationId,
  id: AgentId,
  changes: AgentChanges,
  rules: ServiceRules
) {
  const { draft, latest: before, publishedId } = yield* lock(sql, organizationId, id)
  const { configurations, definition, name, templateContextVariables } = changes
  if (definition !== undefined) yield* storable(sql, organizationId, definition)
  yield* nextStep
  if (definition !== undefined) yield* credentialsSettled(sql, organizationId, definition)
  if (name !== undefined) yield* agents.rename(sql, organizationId, id, name)
  if (definition === undefined && configurations === undefined && templateContextVariables === undefined) return undefined
  const next =
    definition === undefined
      ? undefined
      : yield* TriggerPath.withPaths(yield* drawn(withoutEditorState(definition), before.definition), before.definition)
  yield* nextStep
  const isReady = next === undefined ? draft === undefined : yield* isFinished(sql, organizationId, next)
  const isBegun = draft !== undefined && !draft.isHeld
  const status = isReady && !isBegun ? "published" : "draft"
  if (draft !== undefined) yield* versions.archive(sql, organizationId, draft.definitionId)
  if (status === "published" && publishedId !== null) yield* versions.archive(sql, organizationId, publishedId)
  const content = yield* notTooLarge({
    definition: next ?? before.definition,
    configurations:
      configurations === undefined
        ? before.configurations
        : yield* configured(sql, organizationId, rules, configurations, before.configurations),
    templateContextVariables: templateContextVariables ?? before.templateContextVariables
  })
  const made = yield* save(sql, organizationId, id, { ...content, status, isHeld: status === "draft" && !isBegun })
  return yield* agentWith(sql, made)
}, transaction)

export const createDraft = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: AgentId) {
  const { draft, latest } = yield* lock(sql, organizationId, id)
  if (draft === undefined) return yield* save(sql, organizationId, id, { ...contentOf(latest), status: "draft", isHeld: false })
  if (draft.isHeld) yield* versions.begin(sql, organizationId, draft.definitionId)
  return draft
}, transaction)

const contentOf = ({ configurations, definition, templateContextVariables }: AgentContent): AgentContent => ({
  configurations,
  definition,
  templateContextVariables
})

export const publishDraft = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: AgentId) {
  const { draft, publishedId } = yield* lock(sql, organizationId, id)
  if (draft === undefined) return yield* new AgentDraftMissing()
  yield* publishable(sql, organizationId, draft.definition)
  yield* credentialsSettled(sql, organizationId, draft.definition)
  if (publishedId !== null) yield* versions.archive(sql, organizationId, publishedId)
  const made = yield* inserted(versions.publishDraft(sql, organizationId, draft.definitionId))
  yield* versions.makeCurrent(sql, organizationId, id, made.definitionId)
  yield* claimTriggers(sql, organizationId, id, draft.definition)
  return { ...contentOf(draft), ...made }
}, transaction)
