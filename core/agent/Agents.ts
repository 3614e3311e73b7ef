/** The voice agents of an organization, and the operations on them. */
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type FolderId, FolderNotFound } from "#core/folder/Folder.ts"
import type { AgentDefinitionId, AgentId, CampaignId, OrganizationId } from "#core/Id.ts"
import { firstPage, fitting, type Page, type Part } from "#core/Page.ts"
import type { Sealer } from "#core/Sealer.ts"
import { Signals, type StopUnconfirmed } from "#core/Signals.ts"
import {
  type Agent,
  type AgentCount,
  type AgentDefinitionRefused,
  type AgentDraftMissing,
  AgentInvalid,
  AgentNotFound,
  type AgentStatus,
  type AgentSummary,
  AgentTriggerNotFound,
  type AgentTriggerTaken,
  type AgentUnpublished,
  type AgentVersionRecord,
  type CallableAgent,
  type TriggeredAgent
} from "./Agent.ts"
import type { AgentConfigurationsRefused } from "./AgentConfigurations.ts"
import { calledVersion, unpublished } from "./Callable.ts"
import { type Description, describedAgent, freeName } from "./DescribedAgent.ts"
import * as editing from "./AgentEditing.ts"
import type { AgentChanges, NewAgent } from "./AgentEditing.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import * as store from "./AgentStore.ts"
import * as triggers from "./AgentTriggerStore.ts"
import { AgentVersions } from "./AgentVersions.ts"
import { EgressPolicy } from "#core/egress/Egress.ts"
import type { ServiceRules } from "#core/model/ServiceChecks.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import * as versions from "./AgentVersionStore.ts"
import * as TriggerPath from "./TriggerPath.ts"
import { isUuid } from "#core/Uuid.ts"

const wholeList: store.AgentSelection = { ...firstPage, statuses: ["active", "archived"] }

export class Agents extends Context.Service<
  Agents,
  {
    /** Publishes version 1, or holds it as a draft if its graph is not finished. */
    readonly create: (
      organizationId: OrganizationId,
      agent: NewAgent
    ) => Effect.Effect<Agent, AgentDefinitionRefused | AgentConfigurationsRefused | AgentTriggerTaken | QuotaFull>
    /** Makes one from the most similar template, and gives it a name that no other agent of the organization has. */
    readonly describe: (organizationId: OrganizationId, description: Description) => Effect.Effect<Agent, QuotaFull>
    /** Agents of every status unless the selection names some, newest last. At most a thousand unless a limit is given. */
    readonly list: (organizationId: OrganizationId, selection?: Partial<store.AgentSelection>) => Effect.Effect<ReadonlyArray<AgentSummary>>
    /** Like `list`, but only ids and names. */
    readonly names: (
      organizationId: OrganizationId,
      selection?: Partial<store.AgentSelection>
    ) => Effect.Effect<ReadonlyArray<Pick<Agent, "id" | "name">>>
    readonly count: (organizationId: OrganizationId) => Effect.Effect<AgentCount>
    /** With the published version, which calls run. If there is none, with the draft. */
    readonly get: (organizationId: OrganizationId, id: AgentId) => Effect.Effect<Agent, AgentNotFound>
    /** With the draft, if there is one: what an editor shows. */
    readonly getLatest: (organizationId: OrganizationId, id: AgentId) => Effect.Effect<Agent, AgentNotFound>
    /** The version that a call of the agent runs: the published one, or for a test call the draft, if there is one. */
    readonly calledVersion: (
      organizationId: OrganizationId,
      agent: CallableAgent,
      isTest: boolean
    ) => Effect.Effect<AgentDefinitionId, AgentUnpublished>
    /** Why no call can be made with an agent that has no published version. */
    readonly unpublished: (organizationId: OrganizationId, id: AgentId) => Effect.Effect<AgentUnpublished>
    readonly getByUuid: (organizationId: OrganizationId, workflowUuid: string) => Effect.Effect<CallableAgent, AgentNotFound>
    /** By the path of its API trigger, even if the trigger is turned off: the path stays the agent's. */
    readonly getByTrigger: (organizationId: OrganizationId, path: string) => Effect.Effect<TriggeredAgent, AgentTriggerNotFound>
    /**
     * A change of anything but the name makes a new version. It becomes the draft if somebody has begun one or the graph is not finished, and
     * otherwise the published version.
     */
    readonly update: (
      organizationId: OrganizationId,
      id: AgentId,
      changes: AgentChanges
    ) => Effect.Effect<Agent, AgentNotFound | AgentDefinitionRefused | AgentConfigurationsRefused | AgentTriggerTaken>
    /**
     * Archiving pauses the agent's running campaigns before it returns. Fails if that is unconfirmed; they are paused anyway, and a
     * repeated request confirms it.
     */
    readonly setStatus: (
      organizationId: OrganizationId,
      id: AgentId,
      status: AgentStatus
    ) => Effect.Effect<Agent, AgentNotFound | StopUnconfirmed>
    /** Null: the agent is in no folder. */
    readonly setFolder: (
      organizationId: OrganizationId,
      id: AgentId,
      folderId: FolderId | null
    ) => Effect.Effect<AgentSummary, AgentNotFound | FolderNotFound>
    /** Copies what an editor shows. The copy gets trigger paths of its own. */
    readonly duplicate: (
      organizationId: OrganizationId,
      id: AgentId
    ) => Effect.Effect<Agent, AgentNotFound | AgentDefinitionRefused | QuotaFull>
    /** Newest first. */
    readonly versions: (organizationId: OrganizationId, id: AgentId, page: Page) => Effect.Effect<Part<AgentVersionRecord>, AgentNotFound>
    /** The version with this number. */
    readonly version: (
      organizationId: OrganizationId,
      id: AgentId,
      versionNumber: number
    ) => Effect.Effect<AgentVersionRecord, AgentNotFound>
    /** Returns the existing draft, or creates one from the published version. */
    readonly createDraft: (organizationId: OrganizationId, id: AgentId) => Effect.Effect<AgentVersionRecord, AgentNotFound>
    readonly publish: (
      organizationId: OrganizationId,
      id: AgentId
    ) => Effect.Effect<AgentVersionRecord, AgentNotFound | AgentDraftMissing | AgentInvalid>
    /** Succeeds if what an editor shows could be published, and calls would find all that it refers to. */
    readonly validate: (organizationId: OrganizationId, id: AgentId) => Effect.Effect<void, AgentNotFound | AgentInvalid>
    /** All dispositions of the organization's finished calls, in alphabetical order. */
    readonly dispositionCodes: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<string>>
  }
>()("core/agent/Agents") {
  static readonly layer = Layer.effect(
    Agents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signals = yield* Signals
      const agentVersions = yield* AgentVersions
      const provided = Effect.provideContext(yield* Effect.context<SecureRandom.SecureRandom | Sealer>())
      const registry = yield* ServiceRegistry
      const policy = yield* EgressPolicy
      const rulesFor = (id: OrganizationId) => Effect.map(policy.trunksOf(id), (egress) => ({ egress, registry }))
      const services: Services = { sql, signals, agentVersions, provided, rulesFor, unconfirmed: new Map() }
      return Agents.of({ ...reading(services), ...calling(services), ...editingOf(services), ...versioning(services) })
    })
  ).pipe(Layer.provide([SecureRandom.layerWebCrypto, AgentVersions.layer]))
}

type Service = Agents["Service"]

interface Services {
  readonly sql: SqlClient.SqlClient
  readonly signals: Signals["Service"]
  readonly agentVersions: AgentVersions["Service"]
  readonly provided: <A, E>(effect: Effect.Effect<A, E, SecureRandom.SecureRandom | Sealer>) => Effect.Effect<A, E>
  /** For the speech and language services that agents choose. Must not be called within a transaction. */
  readonly rulesFor: (organizationId: OrganizationId) => Effect.Effect<ServiceRules>
  /** Campaigns that archiving an agent has paused, and whose pause has not been confirmed. */
  readonly unconfirmed: Map<AgentId, ReadonlyArray<CampaignId>>
}

const found = Effect.fnUntraced(function* <A, E, R>(id: AgentId, agent: Effect.Effect<A | undefined, E, R>) {
  return (yield* Effect.orDie(agent)) ?? (yield* new AgentNotFound({ id }))
})
const getPublished = ({ provided, sql }: Services, organizationId: OrganizationId, id: AgentId) =>
  provided(found(id, store.find(sql, organizationId, id)))
const getLatest = ({ provided, sql }: Services, organizationId: OrganizationId, id: AgentId) =>
  provided(found(id, store.findLatest(sql, organizationId, id)))
/** The agent without its definition. */
const getSummary = ({ sql }: Services, organizationId: OrganizationId, id: AgentId) =>
  found(
    id,
    Effect.map(store.findBare(sql, organizationId, id), ([agent]) => agent)
  )

const reading = (services: Services): Pick<Service, "list" | "names" | "count" | "get" | "getLatest" | "dispositionCodes"> => {
  const { sql } = services
  return {
    list: Effect.fn("Agents.list")((organizationId, selection) =>
      Effect.orDie(store.list(sql, organizationId, { ...wholeList, ...selection }))
    ),
    names: Effect.fn("Agents.names")((organizationId, selection) =>
      Effect.orDie(store.names(sql, organizationId, { ...wholeList, ...selection }))
    ),
    count: Effect.fn("Agents.count")((organizationId) => Effect.orDie(store.count(sql, organizationId))),
    get: Effect.fn("Agents.get")((organizationId, id) => getPublished(services, organizationId, id)),
    getLatest: Effect.fn("Agents.getLatest")((organizationId, id) => getLatest(services, organizationId, id)),
    dispositionCodes: Effect.fn("Agents.dispositionCodes")((organizationId) => Effect.orDie(store.dispositionCodes(sql, organizationId)))
  }
}

/** What a request for a call needs to know about its agent. */
const calling = (services: Services): Pick<Service, "calledVersion" | "unpublished" | "getByUuid" | "getByTrigger"> => {
  const { agentVersions, provided, sql } = services
  return {
    calledVersion: Effect.fn("Agents.calledVersion")((organizationId, agent, isTest) =>
      provided(calledVersion(sql, agentVersions, organizationId, agent, isTest))
    ),
    unpublished: Effect.fn("Agents.unpublished")((organizationId, id) => provided(Effect.orDie(unpublished(sql, organizationId, id)))),
    getByUuid: Effect.fn("Agents.getByUuid")(function* (organizationId, workflowUuid) {
      const agent = isUuid(workflowUuid) ? yield* Effect.orDie(store.findByUuid(sql, organizationId, workflowUuid)) : undefined
      return agent ?? (yield* new AgentNotFound({ id: workflowUuid }))
    }),
    getByTrigger: Effect.fn("Agents.getByTrigger")(function* (organizationId, path) {
      return (yield* Effect.orDie(triggers.find(sql, organizationId, path))) ?? (yield* new AgentTriggerNotFound())
    })
  }
}

const editingOf = (services: Services): Pick<Service, "create" | "describe" | "update" | "setStatus" | "setFolder" | "duplicate"> => {
  const { provided, rulesFor, sql } = services
  return {
    create: Effect.fn("Agents.create")(function* (organizationId, agent) {
      return yield* provided(editing.createFrom(sql, organizationId, agent, yield* rulesFor(organizationId)))
    }),
    describe: Effect.fn("Agents.describe")(function* (organizationId, description) {
      const agent = describedAgent(description)
      const name = freeName(agent.name, yield* Effect.orDie(store.namesFrom(sql, organizationId, agent.name)))
      // Our own templates are always valid: the tests create an agent from each.
      return yield* provided(editing.create(sql, organizationId, { ...agent, name })).pipe(
        Effect.catchTags({ AgentDefinitionRefused: Effect.die, AgentTriggerTaken: Effect.die })
      )
    }),
    update: Effect.fn("Agents.update")(function* (organizationId, id, changes) {
      const updated = yield* provided(editing.update(sql, organizationId, id, changes, yield* rulesFor(organizationId)))
      return updated ?? (yield* getLatest(services, organizationId, id))
    }),
    setStatus: Effect.fn("Agents.setStatus")(function* (organizationId, id, status) {
      // A client that disconnects must not leave dial permits behind.
      yield* Effect.uninterruptible(setStatus(services, { organizationId, id, status }))
      return yield* getPublished(services, organizationId, id)
    }),
    setFolder: Effect.fn("Agents.setFolder")(function* (organizationId, id, folderId) {
      yield* getSummary(services, organizationId, id)
      const isSet = yield* Effect.orDie(store.setFolder(sql, organizationId, id, folderId))
      if (!isSet) return yield* new FolderNotFound({ id: folderId ?? 0 })
      return yield* getSummary(services, organizationId, id)
    }),
    duplicate: Effect.fn("Agents.duplicate")(function* (organizationId, id) {
      const latest = yield* getLatest(services, organizationId, id)
      const { configurations, folderId, name, templateContextVariables } = latest
      return yield* provided(
        Effect.flatMap(TriggerPath.withFreshPaths(latest.definition), (definition) =>
          editing.create(sql, organizationId, {
            name: `${name} - Duplicate`,
            definition,
            configurations,
            templateContextVariables,
            folderId
          })
        )
      ).pipe(Effect.catchTag("AgentTriggerTaken", Effect.die))
    })
  }
}

const versioning = (services: Services): Pick<Service, "versions" | "version" | "createDraft" | "publish" | "validate"> => {
  const { provided, sql } = services
  return {
    versions: Effect.fn("Agents.versions")(function* (organizationId, id, page) {
      const part = yield* fitting(page, (some) => provided(Effect.orDie(versions.list(sql, organizationId, id, some))))
      if (part.rows.length === 0) yield* getSummary(services, organizationId, id)
      return part
    }),
    version: Effect.fn("Agents.version")((organizationId, id, versionNumber) =>
      provided(found(id, versions.numbered(sql, organizationId, id, versionNumber)))
    ),
    createDraft: Effect.fn("Agents.createDraft")((organizationId, id) =>
      // The published version already has these trigger paths, so they cannot be taken.
      provided(editing.createDraft(sql, organizationId, id)).pipe(Effect.catchTag("AgentTriggerTaken", Effect.die))
    ),
    publish: Effect.fn("Agents.publish")((organizationId, id) =>
      provided(editing.publishDraft(sql, organizationId, id)).pipe(
        Effect.catchTags({ AgentTriggerTaken: Effect.die, AgentDefinitionRefused: invalid })
      )
    ),
    validate: Effect.fn("Agents.validate")(function* (organizationId, id) {
      const { definition } = yield* getLatest(services, organizationId, id)
      yield* editing
        .complete(sql, organizationId, definition)
        .pipe(Effect.catchTags({ SqlError: Effect.die, AgentDefinitionRefused: invalid }))
    })
  }
}

const invalid = ({ problems }: AgentDefinitionRefused) => Effect.fail(new AgentInvalid({ problems }))

const setStatus = Effect.fnUntraced(function* (
  { signals, sql, unconfirmed }: Services,
  change: { readonly organizationId: OrganizationId; readonly id: AgentId; readonly status: AgentStatus }
) {
  const { id, organizationId, status } = change
  const paused = yield* Effect.gen(function* () {
    if (!(yield* store.setStatus(sql, organizationId, id, status))) return yield* new AgentNotFound({ id })
    return status === "archived" ? yield* store.pauseCampaigns(sql, organizationId, id) : []
  }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
  const stopping = [...(unconfirmed.get(id) ?? []), ...paused]
  yield* Effect.forEach(stopping, signals.campaignStopped, { discard: true, concurrency: "unbounded" }).pipe(
    Effect.tapError(() => Effect.sync(() => unconfirmed.set(id, stopping)))
  )
  unconfirmed.delete(id)
})
