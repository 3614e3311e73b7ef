/** The request that a webhook node sends. It is rendered once, from the run's record, so that every try sends the same. */
import { isObject } from "#core/Json.ts"
import { isSecretName } from "#core/credential/secretHeader.ts"
import { renderJson } from "#core/agent/Template.ts"
import type { WebhookMethod, WebhookNode } from "#core/agent/WebhookNode.ts"
import type { Run } from "#core/run/Run.ts"
import type { GatheredContext } from "#core/run/RunRecord.ts"
import type { PublicAddresses } from "#core/file/PublicFiles.ts"
import type { NodeWebhookId } from "./NodeWebhook.ts"
import { type Headers, isSendable, oneLine, writtenHeaders } from "./RequestHeaders.ts"

/** The limits, in characters, of the body and of the node's own headers together. */
const longestBody = 1_048_576
const longestHeaders = 8192

export interface Rendered {
  /** The node's own headers. */
  readonly headers: Headers
  readonly body: string | undefined
}

/** The parts of a run that its webhooks can report. */
export interface ToldRun
  extends Pick<
    Run,
    | "id"
    | "name"
    | "agentId"
    | "campaignId"
    | "createdAt"
    | "initialContext"
    | "gatheredContext"
    | "usageInfo"
    | "costInfo"
    | "annotations"
    | "transcriptKey"
    | "recordingKey"
  > {
  readonly agentName: string
}

/** The values for a node's template variables. A recording holds both sides of the call, so the URLs for one side are empty. */
const rootOf = (run: ToldRun, addresses: PublicAddresses) => ({
  workflow_run_id: run.id,
  workflow_run_name: run.name,
  workflow_id: run.agentId,
  workflow_name: run.agentName,
  campaign_id: run.campaignId ?? "",
  call_time: run.createdAt.toISOString(),
  initial_context: run.initialContext,
  gathered_context: run.gatheredContext ?? {},
  // In the existing product it is the usage, so that is there too.
  cost_info: { ...run.usageInfo, ...run.costInfo },
  annotations: run.annotations ?? {},
  extra: {},
  recording_url: addresses.recording ?? "",
  transcript_url: addresses.transcript ?? "",
  user_recording_url: "",
  bot_recording_url: ""
})

const withBody: ReadonlyArray<WebhookMethod> = ["POST", "PUT", "PATCH"]

/** `now` is in epoch milliseconds. Undefined if the headers or the body would be too large. */
export const renderRequest = (
  node: WebhookNode,
  method: WebhookMethod,
  run: ToldRun,
  addresses: PublicAddresses,
  now: number
): Rendered | undefined => {
  const root = rootOf(run, addresses)
  const sent = node.headers.filter(([name]) => isSendable(name) && !isSecretName(name))
  const headers = renderJson(Object.fromEntries(sent), root, now, longestHeaders)
  const payload = withBody.includes(method) ? renderJson(node.payload, root, now, longestBody) : noBody
  if (headers === undefined || payload === undefined) return undefined
  return {
    headers: Object.entries(headers.value ?? {}).map(([name, value]) => [name, oneLine(String(value))]),
    body: payload === noBody ? undefined : JSON.stringify(withDisposition(payload.value, run))
  }
}
const noBody = { value: undefined }

/** Adds the disposition, unless the payload already has one or is not an object. */
const withDisposition = (payload: unknown, { gatheredContext }: ToldRun): unknown =>
  !isObject(payload) || Object.hasOwn(payload, disposition) ? payload : { ...payload, [disposition]: gatheredContext?.[disposition] ?? "" }
const disposition: keyof GatheredContext = "call_disposition"

interface Delivered {
  readonly id: NodeWebhookId
  readonly runId: number
  /** Counted from 1. */
  readonly attempt: number
}

/**
 * All headers of a request; undefined if the credential does not make a header that can be sent. The names of the last three are those of
 * the existing product, because receivers written for it expect them.
 */
export const headersOf = (
  own: Headers,
  credential: Headers[number] | undefined,
  { attempt, id, runId }: Delivered
): Readonly<Record<string, string>> | undefined =>
  writtenHeaders([["Content-Type", "application/json"], ["User-Agent", "Trunkline-Webhooks"], ...own], credential, [
    ["X-Dograh-Delivery-Id", id],
    ["X-Dograh-Workflow-Run-Id", String(runId)],
    ["X-Dograh-Delivery-Attempt", String(attempt)]
  ])
