/**
 * Sends the requests of agents' webhook nodes after a call, each at least once: a request that was sent but not recorded is sent again, with the
 * same delivery id.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import type { WebhookMethod, WebhookNode } from "#core/agent/WebhookNode.ts"
import { type ClaimedNodeWebhook, type NodeWebhookJob, NodeWebhookQueue, type TriedNodeWebhook } from "#core/webhook/NodeWebhookQueue.ts"
import { headersOf, type Rendered, renderRequest } from "#core/webhook/NodeWebhookRequest.ts"
import { outcomeOf } from "#core/webhook/NodeWebhookTries.ts"
import { whyRefused } from "#core/webhook/WebhookEndpoint.ts"
import type { OrganizationId } from "#core/Id.ts"
import { mayBeSentTo } from "#core/credential/CredentialHosts.ts"
import { credentialHeader } from "#core/credential/credentialHeader.ts"
import { CredentialSecrets } from "#core/credential/CredentialSecrets.ts"
import { PublicFiles } from "#core/file/PublicFiles.ts"
import { unending } from "#runtime/event/EventSequencer.ts"
import { EventWakes } from "#runtime/event/EventWakes.ts"
import { CurrentWebhookMetrics } from "#runtime/metrics/WebhookMetrics.ts"
import * as DeliveryLoop from "./DeliveryLoop.ts"
import { tracedTry } from "./tracedTry.ts"
import { type Sent, WebhookSender } from "./WebhookSender.ts"

const SENT_AT_ONCE = 64
/** Limits how much of the loop an organization with a slow receiver can occupy. */
const SENT_AT_ONCE_OF_ORGANIZATION = 16
const TIMEOUT = "30 seconds"
/** A transaction does not notify while another one is notifying, so it may have committed unannounced just after we looked. */
const BREATH = "50 millis"
const LONGEST_SLEEP = Duration.seconds(5)
const PRUNE_EVERY = "10 minutes"
const PRUNE_BREATH = "200 millis"

const countTry = (state: TriedNodeWebhook["state"]) => Effect.map(CurrentWebhookMetrics, ({ nodes }) => nodes.count(state))

/** How many deliveries of each organization are in flight. */
const countByOrganization = (inFlight: ReadonlySet<ClaimedNodeWebhook>): ReadonlyMap<OrganizationId, number> => {
  const counts = new Map<OrganizationId, number>()
  for (const { organizationId } of inFlight) counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1)
  return counts
}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const queue = yield* NodeWebhookQueue
    const wakes = yield* EventWakes
    const context = yield* Effect.context<CredentialSecrets | NodeWebhookQueue | PublicFiles | WebhookSender>()
    yield* DeliveryLoop.run({
      atOnce: SENT_AT_ONCE,
      longestSleep: LONGEST_SLEEP,
      lookAgainAfter: BREATH,
      wake: wakes.nodeWebhooks,
      claim: (room, inFlight: ReadonlySet<ClaimedNodeWebhook>) =>
        queue.claim({ limit: room, limitOfOrganization: SENT_AT_ONCE_OF_ORGANIZATION, sending: countByOrganization(inFlight) }),
      nextDueIn: queue.nextDueIn,
      deliver: (claimed) => Effect.provideContext(deliver(claimed), context),
      complaint: "webhooks of agents could not be delivered"
    })

    const pruneAll = Effect.gen(function* () {
      while (yield* queue.prune) yield* Effect.sleep(PRUNE_BREATH)
      yield* Effect.sleep(PRUNE_EVERY)
    })
    yield* Effect.forkScoped(unending("old requests of agents' webhooks could not be deleted", pruneAll))
  })
)

const deliver = (claimed: ClaimedNodeWebhook) =>
  tryOnce(claimed).pipe(
    // A fault of ours counts as a try, so that the delivery is not retried forever.
    Effect.catchCause((cause) =>
      Effect.as(Effect.logWarning("an agent's webhook was not delivered", cause), sentWith(claimed, "internal_error"))
    ),
    Effect.flatMap((tried) => (tried === undefined ? Effect.void : record(claimed, tried))),
    // The lease expires, and then the request is sent again.
    Effect.catchCause((cause) => Effect.logWarning("the outcome of an agent's webhook was not recorded", cause)),
    DeliveryLoop.releasing(NodeWebhookQueue.use((queue) => queue.release(claimed))),
    Effect.annotateLogs({ deliveryId: claimed.id, runId: claimed.runId })
  )

const record = Effect.fnUntraced(function* (claimed: ClaimedNodeWebhook, tried: TriedNodeWebhook) {
  const queue = yield* NodeWebhookQueue
  yield* queue.record(claimed, tried)
  yield* countTry(tried.state)
})
const sentWith = (claimed: ClaimedNodeWebhook, answer: number | string): TriedNodeWebhook => ({
  ...outcomeOf(answer, claimed.attempts + 1),
  wasSent: true
})

/** Why the request can never be sent. */
interface Refused {
  readonly refused: string
}
const refused = (word: string): Refused => ({ refused: word })

/** Undefined if the run was deleted, and the delivery with it. */
const tryOnce = Effect.fnUntraced(function* (
  claimed: ClaimedNodeWebhook
): Effect.fn.Return<TriedNodeWebhook | undefined, never, CredentialSecrets | NodeWebhookQueue | PublicFiles | WebhookSender> {
  const queue = yield* NodeWebhookQueue
  const sender = yield* WebhookSender
  const job = yield* queue.jobOf(claimed)
  if (job === undefined) return undefined
  const request = yield* requestOf(claimed, job)
  if ("refused" in request) {
    return { state: "dead_letter", dueInMillis: 0, status: undefined, error: request.refused, wasSent: false }
  }
  const answer = yield* sender.send(request).pipe(
    Effect.map(({ status }): number | string => status),
    Effect.catchTag("NoAnswer", ({ reason }) => Effect.succeed(reason)),
    tracedTry({ "trunkline.run_id": claimed.runId, "trunkline.tries_before": claimed.attempts }, (answer) => answer)
  )
  return sentWith(claimed, answer)
})

const requestOf = Effect.fnUntraced(function* (claimed: ClaimedNodeWebhook, job: NodeWebhookJob) {
  const { node } = job
  if (node === undefined) return refused("node_missing")
  if (node.method === undefined) return refused("method_unknown")
  if (node.url === "") return refused("url_missing")
  // This checks only the URL's form. WebhookSender checks the address it resolves to.
  if (whyRefused(node.url) !== undefined) return refused("url_refused")
  const rendered = yield* renderedOnce(claimed, job, node, node.method)
  if (rendered === undefined) return refused("payload_too_large")
  const credential = yield* credentialOf(claimed, node)
  if ("refused" in credential) return credential
  const headers = headersOf(rendered.headers, credential.header, { id: claimed.id, runId: claimed.runId, attempt: claimed.attempts + 1 })
  if (headers === undefined) return refused("credential_unusable")
  const request: Sent = { method: node.method, url: node.url, headers, body: rendered.body, timeout: TIMEOUT }
  return request
})

const renderedOnce = Effect.fnUntraced(function* (
  claimed: ClaimedNodeWebhook,
  { rendered, run }: NodeWebhookJob,
  node: WebhookNode,
  method: WebhookMethod
) {
  if (rendered !== undefined) return rendered
  const addresses = yield* PublicFiles.use((_) => _.addressesOf(run))
  const fresh: Rendered | undefined = renderRequest(node, method, run, addresses, yield* Clock.currentTimeMillis)
  return fresh && (yield* NodeWebhookQueue.use((queue) => queue.keep(claimed, fresh)))
})

/** Reads the node's credential for each attempt, so that no copy is stored. If the node names one that is missing, nothing is sent. */
const credentialOf = Effect.fnUntraced(function* ({ organizationId }: ClaimedNodeWebhook, { credentialUuid, url }: WebhookNode) {
  if (credentialUuid === undefined) return { header: undefined }
  const found = yield* CredentialSecrets.use((secrets) => secrets.find(organizationId, credentialUuid))
  if (found !== undefined && !mayBeSentTo(found.allowedHosts, url)) return refused("credential_host_refused")
  return found === undefined ? refused("credential_not_found") : { header: credentialHeader(found.credentialType, found.data) }
})
