/**
 * Sends events to webhook endpoints, each at least once: an event that was sent but not recorded is sent again. Endpoints take turns of several
 * deliveries each. After the first failure, a turn starts no further deliveries.
 */
import { Clock, Duration, Effect, Layer, Random } from "effect"
import { nextTryIn, pauseAfter, retryAfterOf } from "#core/webhook/Backoff.ts"
import { Compatibility } from "#core/Compatibility.ts"
import { cloudEventOf } from "#core/webhook/CloudEvent.ts"
import { type ClaimedEndpoint, type DueDelivery, type Tried, WebhookQueue } from "#core/webhook/WebhookQueue.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { EventWakes } from "#runtime/event/EventWakes.ts"
import { CurrentWebhookMetrics } from "#runtime/metrics/WebhookMetrics.ts"
import * as DeliveryLoop from "./DeliveryLoop.ts"
import { tracedTry } from "./tracedTry.ts"
import { signatureOf } from "./webhookSignature.ts"
import { WebhookSender } from "./WebhookSender.ts"

const ENDPOINTS_AT_ONCE = 16
const SENT_AT_ONCE = 4
const SENT_PER_TURN = 40
/** After this long, a turn starts no further deliveries, so that it ends well before its lease does. */
const TURN_MILLIS = 30_000
const LONGEST_SLEEP = Duration.seconds(30)

const countTry = (state: Tried["state"]) => Effect.map(CurrentWebhookMetrics, ({ endpoints }) => endpoints.count(state))

interface Try {
  readonly tried: Tried
  /** The endpoint answered that it is gone for good (410). */
  readonly isGone: boolean
}

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const queue = yield* WebhookQueue
    const wakes = yield* EventWakes
    const context = yield* Effect.context<WebhookQueue | WebhookSender>()
    yield* DeliveryLoop.run({
      atOnce: ENDPOINTS_AT_ONCE,
      longestSleep: LONGEST_SLEEP,
      wake: wakes.deliveries,
      claim: queue.claim,
      nextDueIn: queue.nextDueIn,
      deliver: (endpoint: ClaimedEndpoint) =>
        takeTurn(endpoint).pipe(
          Effect.provideContext(context),
          // The lease expires, and then the turn's deliveries are sent again.
          Effect.catchCause((cause) => Effect.logWarning("a webhook endpoint's turn was lost", cause)),
          Effect.annotateLogs({ webhookEndpointId: endpoint.id })
        ),
      complaint: "webhooks could not be delivered"
    })
  })
)

/** The attempts of a turn so far. */
interface Turn {
  readonly tries: Array<Tried>
  isGone: boolean
}

const takeTurn = Effect.fnUntraced(function* (endpoint: ClaimedEndpoint) {
  const queue = yield* WebhookQueue
  const turn: Turn = { tries: [], isGone: false }
  const settle = Effect.suspend(() => {
    const { isGone, tries } = turn
    const failures = tries.some(({ state }) => state !== "delivered") ? endpoint.failures + 1 : 0
    return Effect.andThen(queue.record(endpoint, tries), queue.release(endpoint, { failures, pauseMillis: pauseAfter(failures), isGone }))
  })
  const due = yield* queue.due(endpoint, SENT_PER_TURN)
  yield* sendAll(endpoint, due, turn).pipe(DeliveryLoop.releasing(settle))
  yield* settle
  if (turn.isGone) yield* Effect.logWarning("a webhook endpoint is gone and was disabled")
})

const sendAll = Effect.fnUntraced(function* (endpoint: ClaimedEndpoint, due: ReadonlyArray<DueDelivery>, turn: Turn) {
  const until = (yield* SteadyTime.now) + TURN_MILLIS
  let isOver = false
  const sendOne = Effect.fnUntraced(function* (delivery: DueDelivery) {
    if (isOver || (yield* SteadyTime.now) > until) return
    const { isGone, tried } = yield* tryOnce(endpoint, delivery)
    yield* countTry(tried.state)
    turn.tries.push(tried)
    turn.isGone ||= isGone
    isOver ||= tried.state !== "delivered"
  })
  yield* Effect.forEach(due, sendOne, { concurrency: SENT_AT_ONCE, discard: true })
})

const tryOnce = Effect.fnUntraced(function* (endpoint: ClaimedEndpoint, { attempts, event, id }: DueDelivery) {
  const sender = yield* WebhookSender
  const now = yield* Clock.currentTimeMillis
  const message = {
    id: String(event.id),
    timestamp: Math.floor(now / 1000),
    body: JSON.stringify(cloudEventOf(event, yield* Compatibility))
  }
  const answer = yield* sender
    .send({
      url: endpoint.url,
      headers: {
        "content-type": "application/cloudevents+json",
        "user-agent": "Trunkline-Webhooks",
        "webhook-id": message.id,
        "webhook-timestamp": String(message.timestamp),
        "webhook-signature": signatureOf(message, endpoint.secrets)
      },
      body: message.body
    })
    .pipe(
      Effect.catchTag("NoAnswer", ({ reason }) => Effect.succeed({ status: undefined, retryAfter: "", reason })),
      tracedTry(
        { "trunkline.event_subject": event.subject, "trunkline.event_type": event.type, "trunkline.tries_before": attempts },
        (answer) => ("reason" in answer ? answer.reason : answer.status)
      )
    )
  const { status } = answer
  const error = "reason" in answer ? answer.reason : `status_${status}`
  if (status !== undefined && status >= 200 && status < 300) {
    return { tried: { id, state: "delivered", dueInMillis: 0, status, error: undefined }, isGone: false } satisfies Try
  }
  const wait = nextTryIn({
    tries: attempts + 1,
    chance: yield* Random.next,
    retryAfterMillis: retryAfterOf(answer.retryAfter, now)
  })
  const isGone = status === 410
  const isLast = isGone || wait === undefined
  return { tried: { id, state: isLast ? "dead" : "pending", dueInMillis: wait ?? 0, status, error }, isGone } satisfies Try
})
