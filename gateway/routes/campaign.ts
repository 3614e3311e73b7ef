/** /api/v1/campaign */
import { Effect } from "effect"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { Runs } from "#core/run/Runs.ts"
import { NotFound } from "../Refusal.ts"
import { route, tagged } from "../Route.ts"
import {
  CampaignListWire,
  CampaignPath,
  CampaignProgressWire,
  CampaignWire,
  campaignWire,
  changesOf,
  CreateCampaign,
  newCampaignOf,
  progressWire,
  UpdateCampaign
} from "../wire/Campaign.ts"
import { RunListQuery, RunPageWire, runPageWire, runQueryOf } from "../wire/Run.ts"
import { publicRuns } from "./run.ts"

const startErrors = ["CampaignNotFound", "CampaignStateConflict", "CampaignNotReady", "AgentArchived", "TelephonyConfigNotFound"] as const

export const campaignRoutes = tagged("Campaigns", [
  route({
    method: "post",
    path: "/api/v1/campaign/create",
    name: "createCampaign",
    summary: "Create a campaign from an uploaded list",
    description:
      "The whole list is read and checked; a file with a bad row is refused, and nothing is dialed until the campaign is started.",
    body: CreateCampaign,
    success: CampaignWire,
    errors: ["AgentNotFound", "AgentArchived", "SourceNotFound", "SourceRefused", "TelephonyConfigNotFound"],
    handle: ({ body, caller }) => Campaigns.use((_) => _.create(caller.organizationId, newCampaignOf(body))).pipe(Effect.map(campaignWire))
  }),
  route({
    method: "get",
    path: "/api/v1/campaign/",
    name: "listCampaigns",
    summary: "List campaigns, newest first",
    success: CampaignListWire,
    handle: ({ caller }) =>
      Campaigns.use((_) => _.list(caller.organizationId)).pipe(Effect.map((campaigns) => ({ campaigns: campaigns.map(campaignWire) })))
  }),
  route({
    method: "get",
    path: "/api/v1/campaign/:campaign_id",
    name: "getCampaign",
    summary: "Read a campaign",
    params: CampaignPath,
    success: CampaignWire,
    errors: ["CampaignNotFound"],
    handle: ({ caller, params }) => Campaigns.use((_) => _.get(caller.organizationId, params.campaign_id)).pipe(Effect.map(campaignWire))
  }),
  route({
    method: "patch",
    path: "/api/v1/campaign/:campaign_id",
    name: "updateCampaign",
    summary: "Change a draft or paused campaign",
    params: CampaignPath,
    body: UpdateCampaign,
    success: CampaignWire,
    errors: ["CampaignNotFound", "CampaignStateConflict"],
    handle: ({ body, caller, params }) =>
      Campaigns.use((_) => _.update(caller.organizationId, params.campaign_id, changesOf(body))).pipe(Effect.map(campaignWire))
  }),
  route({
    method: "post",
    path: "/api/v1/campaign/:campaign_id/start",
    name: "startCampaign",
    summary: "Start dialing, or go on after a pause",
    params: CampaignPath,
    success: CampaignWire,
    errors: startErrors,
    handle: ({ caller, params }) => Campaigns.use((_) => _.start(caller.organizationId, params.campaign_id)).pipe(Effect.map(campaignWire))
  }),
  route({
    method: "post",
    path: "/api/v1/campaign/:campaign_id/pause",
    name: "pauseCampaign",
    summary: "Stop dialing",
    description: "Once this has answered, nothing more is dialed. Calls that are up go on.",
    params: CampaignPath,
    success: CampaignWire,
    errors: ["CampaignNotFound", "CampaignStateConflict"],
    handle: ({ caller, params }) => Campaigns.use((_) => _.pause(caller.organizationId, params.campaign_id)).pipe(Effect.map(campaignWire))
  }),
  route({
    method: "post",
    path: "/api/v1/campaign/:campaign_id/resume",
    name: "resumeCampaign",
    summary: "Go on after a pause",
    params: CampaignPath,
    success: CampaignWire,
    errors: startErrors,
    handle: ({ caller, params }) => Campaigns.use((_) => _.resume(caller.organizationId, params.campaign_id)).pipe(Effect.map(campaignWire))
  }),
  route({
    method: "get",
    path: "/api/v1/campaign/:campaign_id/progress",
    name: "getCampaignProgress",
    summary: "How far a campaign is",
    params: CampaignPath,
    success: CampaignProgressWire,
    errors: ["CampaignNotFound"],
    handle: ({ caller, params }) =>
      Campaigns.use((_) => _.progress(caller.organizationId, params.campaign_id)).pipe(Effect.map(progressWire))
  }),
  route({
    method: "get",
    path: "/api/v1/campaign/:campaign_id/runs",
    name: "listCampaignRuns",
    summary: "List the calls of a campaign",
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
  })
])
