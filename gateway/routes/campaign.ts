/** /api/v1/campaign */
import { Effect } from "effect"
import { campaignStates, shownStates } from "#core/campaign/Campaign.ts"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { Compatibility } from "#core/Compatibility.ts"
import { RequestId } from "#core/Idempotency.ts"
import { Runs } from "#core/run/Runs.ts"
import { makerOf } from "#core/organization/LinkMakers.ts"
import { FileLinks } from "#gateway/file/FileLinks.ts"
import { FileStore } from "#gateway/ports/FileStore.ts"
import { idempotent } from "#gateway/request/idempotency.ts"
import { listFilter } from "#gateway/request/listFilter.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { list, route, tagged, type Tag } from "#gateway/request/Route.ts"
import { shown } from "#gateway/request/shown.ts"
import { together } from "#gateway/request/together.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import {
  AdvisedCampaignWire,
  advisedCampaignWire,
  CampaignDefaultsWire,
  CampaignListQuery,
  CampaignListWire,
  CampaignPath,
  CampaignProgressWire,
  CampaignWire,
  campaignWire,
  changesOf,
  CreateCampaign,
  defaultsWire,
  newCampaignOf,
  progressWire,
  RedialCampaign,
  redialOf,
  SourceDownload,
  UpdateCampaign
} from "#gateway/wire/Campaign.ts"
import { CampaignOutcomesQuery, CampaignOutcomesWire, campaignOutcomesWire } from "#gateway/wire/CampaignOutcomes.ts"
import { CheckList, listCheckWire, ListCheckWire, listToCheckOf } from "#gateway/wire/ListCheck.ts"
import { orUndefined } from "#gateway/request/Field.ts"
import { listedById, pageOf } from "#gateway/wire/Page.ts"
import { RunListQuery, RunPageWire, runPageWire, runQueryOf } from "#gateway/wire/Run.ts"
import { publicRuns } from "./run.ts"

const startErrors = [
  "CampaignNotFound",
  "CampaignStateConflict",
  "CampaignNotReady",
  "AgentArchived",
  "AgentUnpublished",
  "TelephonyConfigNotFound",
  "TelephonyNotReady"
] as const

const linkSeconds = 3600

const statesOf = listFilter("campaign state", campaignStates, {
  shown: shownStates,
  // Dograh's name for a draft is accepted, whatever a draft is called here.
  meaningOf: (word) => (word === "created" ? "draft" : word)
})

export const campaignsTag: Tag = {
  name: "Campaigns",
  about: "A list of contacts, called within limits and calling windows, with retries.",
  scope: "campaigns"
}

export const campaignRoutes = tagged(campaignsTag, [
  idempotent(
    route({
      method: "post",
      path: "/api/v1/campaign/create",
      isHeavy: true,
      name: "createCampaign",
      summary: "Create a campaign from an uploaded list",
      description:
        "The whole list is read and checked, and a file with an invalid row is refused. Nothing is dialed until the campaign is started.",
      body: CreateCampaign,
      success: AdvisedCampaignWire,
      errors: [
        "AgentNotFound",
        "AgentArchived",
        "FilesAway",
        "QuotaFull",
        "SourceNotFound",
        "SourceRefused",
        "TelephonyConfigNotFound",
        "TelephonyNotReady"
      ],
      handle: ({ body, caller }) =>
        Effect.gen(function* () {
          const campaign = { ...newCampaignOf(body), creationId: yield* RequestId }
          return yield* Campaigns.use((_) => _.create(caller.organizationId, campaign)).pipe(shown(advisedCampaignWire))
        })
    })
  ),
  route({
    method: "post",
    path: "/api/v1/campaign/check",
    isHeavy: true,
    name: "checkCampaignList",
    summary: "Check an uploaded list before a campaign is created from it",
    description:
      "Reads the whole list as `POST /campaign/create` does, and tells of all its faults instead of stopping at them: a list is accepted here if, and only if, it is accepted there. It creates nothing and dials nobody. 400 if the list or the telephony configuration is unknown, and 409 if the agent is archived.",
    body: CheckList,
    success: ListCheckWire,
    errors: ["AgentNotFound", "AgentArchived", "FilesAway", "QuotaFull", "SourceNotFound", "TelephonyConfigNotFound", "TelephonyNotReady"],
    handle: ({ body, caller }) =>
      Effect.map(
        Campaigns.use((_) => _.checkList(caller.organizationId, listToCheckOf(body))),
        listCheckWire
      )
  }),
  list({
    path: "/api/v1/campaign/",
    name: "listCampaigns",
    summary: "List campaigns, newest first",
    description:
      "Filters by state and name. `after` continues behind the campaign with that id, so that a page holds nothing twice while campaigns are created.",
    query: CampaignListQuery,
    success: CampaignListWire,
    errors: ["Unprocessable"],
    handle: ({ caller, query }) =>
      Effect.gen(function* () {
        const states = yield* statesOf(orUndefined(query.state))
        const selection = { ...pageOf(query), states, name: orUndefined(query.name), after: orUndefined(query.after) }
        const campaigns = yield* Campaigns.use((_) => _.list(caller.organizationId, selection))
        const compatibility = yield* Compatibility
        return listedById(query, campaigns, (listed) => ({ campaigns: listed.map((one) => campaignWire(one, compatibility)) }))
      })
  }),
  route({
    method: "get",
    path: "/api/v1/campaign/:campaign_id",
    name: "getCampaign",
    summary: "Read a campaign",
    description: "Its settings, state and counters, and the entries of its log. 404 for a campaign of another organization.",
    params: CampaignPath,
    success: CampaignWire,
    errors: ["CampaignNotFound"],
    handle: ({ caller, params }) => Campaigns.use((_) => _.get(caller.organizationId, params.campaign_id)).pipe(shown(campaignWire))
  }),
  route({
    method: "patch",
    path: "/api/v1/campaign/:campaign_id",
    name: "updateCampaign",
    summary: "Change a draft or paused campaign",
    description:
      "Where the operator has set `COMPATIBILITY=dograh`, a running campaign can be changed too, except for its rate: the change applies to every call that is dialed after the answer, and calls in progress continue. A 503 then means that the campaign is changed, but it is not confirmed yet that no call is dialed under the previous settings: repeat the request.",
    params: CampaignPath,
    body: UpdateCampaign,
    success: AdvisedCampaignWire,
    errors: ["CampaignNotFound", "CampaignStateConflict", "StopUnconfirmed"],
    handle: ({ body, caller, params }) =>
      Campaigns.use((_) => _.update(caller.organizationId, params.campaign_id, changesOf(body))).pipe(shown(advisedCampaignWire))
  }),
  route({
    method: "post",
    path: "/api/v1/campaign/:campaign_id/start",
    name: "startCampaign",
    summary: "Start dialing, or resume after a pause",
    description:
      "Dials from now on, within the campaign's schedule. 400 if something that it needs is missing or unknown, 409 in a state from which it cannot be started, which `detail` names, or if its agent is archived or not published.",
    params: CampaignPath,
    success: CampaignWire,
    errors: startErrors,
    handle: ({ caller, params }) => Campaigns.use((_) => _.start(caller.organizationId, params.campaign_id)).pipe(shown(campaignWire))
  }),
  route({
    method: "post",
    path: "/api/v1/campaign/:campaign_id/pause",
    name: "pauseCampaign",
    summary: "Stop dialing",
    description:
      "After the answer, nothing more is dialed. Calls in progress continue. A 503 means that the campaign is paused, but it is not confirmed yet that nothing more is dialed: repeat the request until it is answered with 200. A campaign that the engine has paused because of repeated failures, and would resume by itself, stays paused after this.",
    params: CampaignPath,
    success: CampaignWire,
    errors: ["CampaignNotFound", "CampaignStateConflict", "StopUnconfirmed"],
    handle: ({ caller, params }) => Campaigns.use((_) => _.pause(caller.organizationId, params.campaign_id)).pipe(shown(campaignWire))
  }),
  route({
    method: "post",
    path: "/api/v1/campaign/:campaign_id/resume",
    name: "resumeCampaign",
    summary: "Resume after a pause",
    description:
      "Goes on with the contacts that are left. 400 if something that it needs is missing by now, 409 unless the campaign is paused, or if its agent is archived or not published.",
    params: CampaignPath,
    success: CampaignWire,
    errors: startErrors,
    handle: ({ caller, params }) => Campaigns.use((_) => _.resume(caller.organizationId, params.campaign_id)).pipe(shown(campaignWire))
  }),
  together(
    route({
      method: "get",
      path: "/api/v1/campaign/:campaign_id/progress",
      name: "getCampaignProgress",
      summary: "Read the progress of a campaign",
      description:
        "Counts contacts by what became of them so far. For a page that shows a running campaign; the events of `/api/v1/events` tell of each change.",
      params: CampaignPath,
      success: CampaignProgressWire,
      errors: ["CampaignNotFound"],
      handle: ({ caller, params }) => Campaigns.use((_) => _.progress(caller.organizationId, params.campaign_id)).pipe(shown(progressWire))
    })
  ),
  together(
    route({
      method: "get",
      path: "/api/v1/campaign/:campaign_id/outcomes",
      name: "getCampaignOutcomes",
      summary: "Count the calls of a campaign by outcome, over time",
      description:
        "By when they ended, in at most 400 buckets that end with the current one, or with the campaign's end once it is completed; and the retries that wait, by when they fall due, in at most 100 buckets ahead. All buckets begin in UTC, and only those with something in them are there.",
      params: CampaignPath,
      query: CampaignOutcomesQuery,
      success: CampaignOutcomesWire,
      errors: ["CampaignNotFound"],
      handle: ({ caller, params, query }) =>
        Effect.map(
          Campaigns.use((_) => _.outcomes(caller.organizationId, params.campaign_id, orUndefined(query.bucket))),
          campaignOutcomesWire
        )
    })
  ),
  route({
    method: "get",
    path: "/api/v1/campaign/:campaign_id/runs",
    name: "listCampaignRuns",
    summary: "List the calls of a campaign",
    description:
      "One entry for each call, with its disposition and links to its recording and transcript. 400 for a filter or an order that does not exist, 404 for a campaign of another organization.",
    params: CampaignPath,
    query: RunListQuery,
    success: RunPageWire,
    errors: ["NotFound", "RunFilterInvalid", "RunAttributeRefused"],
    handle: ({ caller, params, query }) =>
      Effect.gen(function* () {
        const page = yield* Runs.use((_) => _.listOfCampaign(caller.organizationId, params.campaign_id, runQueryOf(query))).pipe(
          Effect.catchTag("CampaignNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Campaign ${id} not found` })))
        )
        return runPageWire(page, yield* publicRuns(page.runs))
      })
  }),
  route({
    method: "post",
    path: "/api/v1/campaign/:campaign_id/redial",
    isHeavy: true,
    name: "redialCampaign",
    summary: "Redial the contacts that a completed campaign did not reach",
    description:
      "Creates a draft with the contacts whose last call had one of the chosen outcomes and who have not opted out since, and all settings of the campaign. Each campaign can be redialed at most once.",
    params: CampaignPath,
    body: RedialCampaign,
    success: CampaignWire,
    errors: ["CampaignNotFound", "CampaignStateConflict", "QuotaFull", "RedialRefused", "AgentArchived"],
    handle: ({ body, caller, params }) =>
      Campaigns.use((_) => _.redial(caller.organizationId, params.campaign_id, redialOf(body))).pipe(shown(campaignWire))
  }),
  route({
    method: "get",
    path: "/api/v1/campaign/:campaign_id/source-download-url",
    name: "getCampaignSourceUrl",
    summary: "Get a download URL for the uploaded list",
    description:
      "The URL works without a credential until it expires. 404 if the list has been deleted, 503 while the store of files does not answer.",
    params: CampaignPath,
    success: SourceDownload,
    errors: ["CampaignNotFound", "FileMissing", "FilesAway"],
    handle: ({ caller, params }) =>
      Effect.gen(function* () {
        const { sourceId } = yield* Campaigns.use((_) => _.get(caller.organizationId, params.campaign_id))
        yield* FileStore.use((_) => _.find(sourceId))
        const path = yield* FileLinks.use((_) => _.make({ key: sourceId, seconds: linkSeconds, isInline: false, maker: makerOf(caller) }))
        return { download_url: `${yield* Effect.flatMap(ServerInfo, ({ url }) => url)}${path}`, expires_in: linkSeconds }
      })
  }),
  route({
    method: "get",
    path: "/api/v1/organizations/campaign-defaults",
    name: "getCampaignDefaults",
    summary: "Read defaults for a new campaign",
    description:
      "How many calls may be up at once, how many numbers there are to call from, the default for retries, and the settings of the newest campaign.",
    success: CampaignDefaultsWire,
    handle: ({ caller }) => Campaigns.use((_) => _.defaults(caller.organizationId)).pipe(Effect.map(defaultsWire))
  })
])
