/**
 * The operations on campaigns. Every change of state is one statement that names the state it leaves and writes the log. The campaign's owner
 * is told after the commit, and a pause waits until no node can dial for the campaign any more.
 */
import { Clock, Context, Effect, Layer, type Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AgentArchived, type AgentUnpublished } from "#core/agent/Agent.ts"
import { finished } from "#core/agent/Callable.ts"
import { requiredVariablesOf } from "#core/agent/AgentGraph.ts"
import { Agents } from "#core/agent/Agents.ts"
import { Compatibility } from "#core/Compatibility.ts"
import type { CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { Deafness } from "#core/model/Deafness.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import { Signals, type StopUnconfirmed } from "#core/Signals.ts"
import type { Extensions } from "#core/telephony/Extensions.ts"
import { ready, type TelephonyConfigNotFound, type TelephonyNotReady } from "#core/telephony/TelephonyConfig.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { CampaignNotFound, CampaignNotReady, type CampaignState, CampaignStateConflict, shownState } from "./Campaign.ts"
import { ContactSource, type SourceVariables } from "#core/contact/ContactSource.ts"
import type { BucketSize, CampaignOutcomes } from "./CampaignOutcomes.ts"
import { outcomes } from "./CampaignOutcomeStore.ts"
import type { CampaignProgress } from "./CampaignProgress.ts"
import * as store from "./CampaignStore.ts"
import { type CampaignDefaults, campaignDefaults } from "./CampaignDefaults.ts"
import { type CampaignChanges, changedColumns, storedChanges } from "./CampaignSettings.ts"
import { allContacts, attemptsOf, type ContactsNotUnknown, type ListedContact, listWaiting, markContacts } from "./Contacts.ts"
import type { ListCheck } from "#core/contact/ListCheck.ts"
import type { Contact, ContactFilter, ContactMark, ContactNotFound, ContactSelection } from "#core/contact/Contact.ts"
import type { ContactAttempt } from "#core/contact/ContactAttempts.ts"
import type { NewRedial, RedialRefused } from "./Redial.ts"
import { redial } from "./Redials.ts"
import { check, create, type ListToCheck, type NewCampaign, type NotChecked, type NotCreated } from "./Creation.ts"

export type { CampaignSelection, LoggedCampaign } from "./CampaignStore.ts"

/** A campaign, with warnings about settings that cannot take full effect. */
export interface AdvisedCampaign extends store.LoggedCampaign {
  readonly warnings: ReadonlyArray<string>
}

const wholeList: store.CampaignSelection = { limit: 1000, offset: 0 }

/** Dial requests per second of a new campaign that sets no rate of its own. */
export const DefaultRateLimit = Context.Reference<number>("core/campaign/DefaultRateLimit", { defaultValue: () => 1 })

type StartRefused =
  | CampaignNotFound
  | CampaignStateConflict
  | CampaignNotReady
  | AgentArchived
  | AgentUnpublished
  | TelephonyConfigNotFound
  | TelephonyNotReady

export class Campaigns extends Context.Service<
  Campaigns,
  {
    /** Reads the whole list of contacts. A refusal leaves nothing behind. */
    readonly create: (organizationId: OrganizationId, campaign: NewCampaign) => Effect.Effect<AdvisedCampaign, NotCreated>
    /** Says what creating a campaign from a list would come to. Creates nothing. */
    readonly checkList: (organizationId: OrganizationId, list: ListToCheck) => Effect.Effect<ListCheck, NotChecked>
    /** Newest first, each with ten log entries. At most a thousand unless a limit is given. */
    readonly list: (
      organizationId: OrganizationId,
      selection?: Partial<store.CampaignSelection>
    ) => Effect.Effect<ReadonlyArray<store.LoggedCampaign>>
    /** With a hundred log entries, like all single campaigns below. */
    readonly get: (organizationId: OrganizationId, id: CampaignId) => Effect.Effect<store.LoggedCampaign, CampaignNotFound>
    /**
     * Changes a draft or a paused campaign; with `Compatibility` also a running one, except for its rate. Returns once no request can leave
     * under the earlier settings. Fails if that is unconfirmed; the settings are changed anyway, and a repeated request confirms it.
     */
    readonly update: (
      organizationId: OrganizationId,
      id: CampaignId,
      changes: CampaignChanges
    ) => Effect.Effect<AdvisedCampaign, CampaignNotFound | CampaignStateConflict | StopUnconfirmed>
    readonly start: (organizationId: OrganizationId, id: CampaignId) => Effect.Effect<store.LoggedCampaign, StartRefused>
    readonly resume: (organizationId: OrganizationId, id: CampaignId) => Effect.Effect<store.LoggedCampaign, StartRefused>
    /**
     * Returns once no node can dial for the campaign any more. Calls that are up go on. Fails if that is unconfirmed; the campaign is paused all
     * the same, and a repeated request confirms it.
     */
    readonly pause: (
      organizationId: OrganizationId,
      id: CampaignId
    ) => Effect.Effect<store.LoggedCampaign, CampaignNotFound | CampaignStateConflict | StopUnconfirmed>
    readonly progress: (organizationId: OrganizationId, id: CampaignId) => Effect.Effect<CampaignProgress, CampaignNotFound>
    /** The progress of campaigns that are running or paused: at most `limit`, running ones first, newest first. */
    readonly progressUnderWay: (organizationId: OrganizationId, limit: number) => Effect.Effect<ReadonlyArray<CampaignProgress>>
    /** Counts calls by when they ended, and retries by when they fall due. Without a size of buckets, one that suits the campaign's age. */
    readonly outcomes: (
      organizationId: OrganizationId,
      id: CampaignId,
      size?: BucketSize | undefined
    ) => Effect.Effect<CampaignOutcomes, CampaignNotFound>
    /** In the order of the file. */
    readonly contacts: (
      organizationId: OrganizationId,
      id: CampaignId,
      selection: ContactSelection
    ) => Effect.Effect<ReadonlyArray<ListedContact>, CampaignNotFound>
    /** The calls to a contact, the newest first, a hundred at most. */
    readonly attempts: (
      organizationId: OrganizationId,
      id: CampaignId,
      rowNumber: number
    ) => Effect.Effect<ReadonlyArray<ContactAttempt>, ContactNotFound>
    /** All that the filter selects, read from the database as the stream is, in the order of the file. */
    readonly allContacts: (
      organizationId: OrganizationId,
      id: CampaignId,
      filter: ContactFilter
    ) => Effect.Effect<Stream.Stream<ReadonlyArray<Contact>>, CampaignNotFound>
    /** Records whether contacts whose call had the outcome `unknown` were reached. Marks all of them or none. */
    readonly markContacts: (
      organizationId: OrganizationId,
      id: CampaignId,
      mark: ContactMark
    ) => Effect.Effect<void, CampaignNotFound | ContactsNotUnknown>
    /** Returns the new campaign, a draft. */
    readonly redial: (
      organizationId: OrganizationId,
      id: CampaignId,
      wanted: NewRedial
    ) => Effect.Effect<store.LoggedCampaign, CampaignNotFound | CampaignStateConflict | AgentArchived | QuotaFull | RedialRefused>
    readonly defaults: (organizationId: OrganizationId) => Effect.Effect<CampaignDefaults>
  }
>()("core/campaign/Campaigns") {
  static readonly layer = Layer.effect(
    Campaigns,
    Effect.gen(function* () {
      const ports = {
        sql: yield* SqlClient.SqlClient,
        agents: yield* Agents,
        configs: yield* TelephonyConfigs,
        signals: yield* Signals,
        source: yield* ContactSource,
        rateLimit: yield* DefaultRateLimit,
        deaf: yield* Deafness
      }
      const { sql } = ports
      const get = Effect.fnUntraced(function* (organizationId: OrganizationId, id: CampaignId) {
        const campaign = yield* Effect.orDie(store.find(sql, organizationId, id))
        return campaign ?? (yield* new CampaignNotFound({ id }))
      })
      const advised = Effect.fnUntraced(function* (organizationId: OrganizationId, id: CampaignId) {
        const campaign = yield* get(organizationId, id)
        const limit = yield* Effect.orDie(store.organizationLimit(sql, organizationId))
        return { ...campaign, warnings: warningsOf(campaign, limit) } satisfies AdvisedCampaign
      })
      const setRunning = (action: keyof typeof startable) =>
        Effect.fn(`Campaigns.${action}`)(function* (organizationId: OrganizationId, id: CampaignId) {
          // A client that disconnects must not leave a running campaign whose owner was not told.
          yield* Effect.uninterruptible(run(ports, organizationId, id, action))
          return yield* get(organizationId, id)
        })

      return Campaigns.of({
        create: Effect.fn("Campaigns.create")(function* (organizationId, campaign) {
          const { creationId } = campaign
          const made = creationId === undefined ? undefined : yield* Effect.orDie(store.findCreated(sql, organizationId, creationId))
          const id = made ?? (yield* create(ports, organizationId, campaign))
          return yield* Effect.orDie(advised(organizationId, id))
        }),
        checkList: Effect.fn("Campaigns.checkList")((organizationId, list) => check(ports, organizationId, list)),
        list: Effect.fn("Campaigns.list")((organizationId, selection) =>
          Effect.orDie(store.list(sql, organizationId, { ...wholeList, ...selection }))
        ),
        get: Effect.fn("Campaigns.get")(get),
        update: Effect.fn("Campaigns.update")(function* (organizationId, id, changes) {
          // A client that disconnects must not leave permits under the earlier settings.
          yield* Effect.uninterruptible(update(ports, organizationId, id, changes))
          return yield* advised(organizationId, id)
        }),
        start: setRunning("start"),
        resume: setRunning("resume"),
        pause: Effect.fn("Campaigns.pause")(function* (organizationId, id) {
          // Nor may a client that disconnects leave permits of a paused campaign.
          yield* Effect.uninterruptible(pause(ports, organizationId, id))
          return yield* get(organizationId, id)
        }),
        progress: Effect.fn("Campaigns.progress")(function* (organizationId, id) {
          const found = yield* Effect.orDie(store.progress(sql, organizationId, id))
          return found ?? (yield* new CampaignNotFound({ id }))
        }),
        progressUnderWay: (organizationId, limit) => Effect.orDie(store.progressUnderWay(sql, organizationId, limit)),
        outcomes: Effect.fn("Campaigns.outcomes")(function* (organizationId, id, size) {
          const found = yield* Effect.orDie(outcomes(sql, organizationId, id, { now: yield* Clock.currentTimeMillis, size }))
          return found ?? (yield* new CampaignNotFound({ id }))
        }),
        contacts: Effect.fn("Campaigns.contacts")((organizationId, id, selection) => listWaiting(sql, organizationId, id, selection)),
        attempts: Effect.fn("Campaigns.attempts")((organizationId, id, rowNumber) => attemptsOf(sql, organizationId, id, rowNumber)),
        allContacts: Effect.fn("Campaigns.allContacts")((organizationId, id, filter) => allContacts(sql, organizationId, id, filter)),
        markContacts: Effect.fn("Campaigns.markContacts")((organizationId, id, mark) => markContacts(sql, organizationId, id, mark)),
        redial: Effect.fn("Campaigns.redial")(function* (organizationId, id, wanted) {
          const made = yield* redial(sql, organizationId, id, wanted)
          return yield* Effect.orDie(get(organizationId, made))
        }),
        defaults: Effect.fn("Campaigns.defaults")((organizationId) => Effect.orDie(campaignDefaults(sql, organizationId)))
      })
    })
  ).pipe(Layer.provide([Agents.layer, TelephonyConfigs.layer]))
}

type Sql = SqlClient.SqlClient
interface Ports {
  readonly sql: Sql
  readonly agents: Agents["Service"]
  readonly configs: TelephonyConfigs["Service"]
  readonly signals: Signals["Service"]
  readonly source: ContactSource["Service"]
  readonly rateLimit: number
  readonly deaf: (typeof Deafness)["Service"]
}

const startable = { start: ["draft", "paused"], resume: ["paused"] } as const
const possibleIn: Readonly<Record<"start" | "resume" | "pause" | "update", ReadonlyArray<CampaignState>>> = {
  ...startable,
  pause: ["running"],
  update: ["draft", "paused"]
}

const conflict = Effect.fnUntraced(function* (action: keyof typeof possibleIn, state: CampaignState) {
  const compatibility = yield* Compatibility
  const expected = possibleIn[action].map((possible) => shownState(possible, compatibility))
  return yield* new CampaignStateConflict({ action, state: shownState(state, compatibility), expected })
})

const warningsOf = ({ maxConcurrency }: store.LoggedCampaign, limit: number): ReadonlyArray<string> =>
  maxConcurrency === undefined || maxConcurrency <= limit
    ? []
    : [`max_concurrency (${maxConcurrency}) is above the organization's limit (${limit}): no more than ${limit} calls will be up at once.`]

const run = Effect.fnUntraced(function* (ports: Ports, organizationId: OrganizationId, id: CampaignId, action: keyof typeof startable) {
  const { signals, sql } = ports
  const now = yield* Effect.gen(function* () {
    const agent = yield* store.lockAgent(sql, organizationId, id)
    const campaign = yield* store.lock(sql, organizationId, id)
    if (agent === undefined || campaign === undefined) return yield* new CampaignNotFound({ id })
    const left = startable[action].find((state) => state === campaign.state)
    if (left === undefined) return yield* conflict(action, campaign.state)
    if (!agent.isActive) return yield* new AgentArchived({ id: agent.agentId })
    if (agent.definition === null) return yield* yield* ports.agents.unpublished(organizationId, agent.agentId)
    yield* finished(agent.agentId, agent.definition)
    const config = yield* usableConfig(ports, organizationId, campaign.telephonyConfigurationId ?? undefined)
    yield* satisfied(requiredVariablesOf(agent.definition) ?? [], campaign.sourceSync.variables)
    if (campaign.sourceSync.hasExtensions === true) yield* callable(ports, organizationId, id, config.extensions)
    if (left === "paused") yield* store.dropWaiting(sql, organizationId, id)
    const now = yield* store.run(sql, organizationId, id, { left, telephonyConfigurationId: config.id })
    const why = asksQuestions(agent.definition) ? yield* ports.deaf(organizationId, agent.configurations ?? {}) : undefined
    if (now?.state === "running" && why !== undefined) yield* store.noteDeafness(sql, organizationId, id, why)
    return now
  }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
  if (now?.state === "running") yield* signals.campaignRunning(id, String(now.dialEpoch))
})

/** A node with an edge waits for an answer. */
const asksQuestions = ({ edges }: JsonObject): boolean => Array.isArray(edges) && edges.length > 0

const rowsNamed = 5

/** Checks the extensions again: since the list was read, the configuration may have changed or been replaced by another one. */
const callable = Effect.fnUntraced(function* ({ sql }: Ports, organizationId: OrganizationId, id: CampaignId, extensions: Extensions) {
  const rows = (yield* store.extensionsToCall(sql, organizationId, id)).filter(({ phoneNumber }) => !extensions.has(phoneNumber))
  if (rows.length === 0) return
  const named = rows.slice(0, rowsNamed).map(({ rowNo }) => rowNo)
  const more = rows.length > named.length ? ` and ${rows.length - named.length} more` : ""
  const reason = `The telephony configuration does not list the extensions of rows: ${named.join(", ")}${more}. Add them to it.`
  return yield* new CampaignNotReady({ reason })
})

const usableConfig = (ports: Ports, organizationId: OrganizationId, id: TelephonyConfigId | undefined) =>
  ports.configs.resolve(organizationId, id).pipe(
    Effect.catchTag("TelephonyNotConfigured", () =>
      Effect.fail(new CampaignNotReady({ reason: "No telephony configuration: add one, or make one the default for outbound calls." }))
    ),
    Effect.flatMap(ready)
  )

/** Checks the variables again: the agent may need more of them than when the contacts were read. */
const satisfied = (required: ReadonlyArray<string>, variables: SourceVariables) => {
  const named = (names: ReadonlyArray<string>) => names.map((name) => `'${name}'`).join(", ")
  const missing = required.filter((name) => !variables.names.includes(name))
  const empty = required.filter((name) => variables.empty.includes(name))
  const reason =
    missing.length > 0
      ? `Workflow uses template variables that are missing from the source data: ${named(missing)}. Add the missing columns or remove them from the workflow.`
      : `Workflow uses template variables that are empty in some rows: ${named(empty)}. All template variables used in the workflow must have values in every row.`
  return missing.length + empty.length === 0 ? Effect.void : Effect.fail(new CampaignNotReady({ reason }))
}

const pause = Effect.fnUntraced(function* ({ signals, sql }: Ports, organizationId: OrganizationId, id: CampaignId) {
  const found = yield* Effect.orDie(store.pause(sql, organizationId, id))
  if (found === undefined) return yield* new CampaignNotFound({ id })
  const { done, isUnconfirmed, state } = found
  if (!done && !isUnconfirmed) return yield* conflict("pause", state)
  const setUnconfirmed = (unconfirmed: boolean) => Effect.orDie(store.setUnconfirmed(sql, organizationId, id, unconfirmed))
  yield* Effect.tapError(signals.campaignStopped(id), () => setUnconfirmed(true))
  if (isUnconfirmed) yield* setUnconfirmed(false)
})

const update = Effect.fnUntraced(function* (ports: Ports, organizationId: OrganizationId, id: CampaignId, changes: CampaignChanges) {
  const { signals, sql } = ports
  const changed = changedColumns(changes)
  // Calls have already reserved dial times at the present rate, so it cannot change while the campaign runs.
  const isRunningOpen = (yield* Compatibility) === "dograh" && changes.rateLimit === undefined
  const found = yield* store.update(sql, organizationId, id, storedChanges(changes), { changed, isRunningOpen }).pipe(
    Effect.tap((before) =>
      before?.done === true && before.state === "running" ? store.settleRunning(sql, organizationId, id) : Effect.void
    ),
    sql.withTransaction,
    Effect.orDie
  )
  if (found === undefined) return yield* new CampaignNotFound({ id })
  if (!found.done) return yield* conflict("update", found.state)
  if (found.state === "running") yield* signals.campaignStopped(id)
})
