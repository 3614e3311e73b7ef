/**
 * The metrics of the engine and its process, under the industry's usual names. No label contains a phone number, an organization or a campaign.
 *
 * The engine counts in plain numbers (`CallMetrics`, `WebhookMetrics`, the gateway's `HttpMetrics`), which this file names and formats. Only the
 * cluster of `effect` counts with Effect's `Metric`; its metrics are passed on.
 */
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Histogram } from "#core/Histogram.ts"
import { type CallMetrics, CurrentCallMetrics } from "./CallMetrics.ts"
import { type ConversationMetrics, CurrentConversationMetrics } from "./ConversationMetrics.ts"
import { Config } from "#runtime/config/config.ts"
import { PoolUses } from "#runtime/postgres/PoolUse.ts"
import type { MediaMetrics } from "./MediaMetrics.ts"
import type { DeciderMetrics } from "./DeciderMetrics.ts"
import { CurrentFileMetrics, type FileMetrics } from "./FileMetrics.ts"
import { CurrentSpeechMetrics, type SpeechMetrics } from "./SpeechMetrics.ts"
import { CurrentWebhookMetrics, type WebhookMetrics } from "./WebhookMetrics.ts"
import { Redis, type RedisService } from "#runtime/redis/Redis.ts"
import { counter, type Family, gauge, histogram, textOf } from "./prometheusText.ts"

/** Read each time the metrics are read. */
export interface Sources {
  readonly decider: DeciderMetrics["Service"]["read"]
  readonly liveCalls: () => number
  readonly media: () => MediaMetrics
  /** For each trunk of this node, whether it can carry calls. */
  readonly trunks: () => ReadonlyArray<boolean>
  /** For each endpoint of trunks with several, whether it is connected. */
  readonly endpoints: () => ReadonlyArray<boolean>
  readonly routes: () => Iterable<{
    readonly method: string
    readonly route: string
    readonly answers: ReadonlyArray<readonly [status: number, count: number]>
    readonly seconds: Histogram
  }>
}

const processFamilies = (): ReadonlyArray<Family> => {
  const { heapUsed, rss } = process.memoryUsage()
  const { system, user } = process.cpuUsage()
  return [
    counter("process_cpu_seconds_total", "Time spent on a core", (system + user) / 1e6),
    gauge("process_resident_memory_bytes", "Memory of the process", rss),
    gauge("nodejs_heap_used_bytes", "Memory of its JavaScript objects", heapUsed),
    gauge("process_uptime_seconds", "Since its start", process.uptime())
  ]
}

const callFamilies = ({
  answered,
  ended,
  framesSent,
  framesSkipped,
  greetingsMissed,
  callbacksRefused,
  late,
  originated,
  postDialSeconds,
  refillSeconds,
  talkSeconds
}: CallMetrics): ReadonlyArray<Family> => [
  counter("calls_originated_total", "Dial requests sent", originated),
  counter("calls_answered_total", "Calls that were answered", answered),
  counter(
    "carrier_callbacks_refused_total",
    "Requests of carriers that were forged or altered, by telephony configuration",
    [...callbacksRefused].map(([id, refused]) => [{ telephony_configuration_id: String(id) }, refused] as const)
  ),
  counter("calls_late_total", "Calls that appeared or lived on after their attempts were over, and were hung up", late),
  counter("media_frames_sent_total", "Frames of audio sent to callees, 20 ms each; counted when a call ends", framesSent),
  counter("greetings_missed_total", "Answered calls in which the greeting did not begin within two seconds", greetingsMissed),
  counter(
    "media_frames_skipped_total",
    "Frames that callees have not heard because the process stood still or the line had no room",
    framesSkipped
  ),
  counter(
    "calls_ended_total",
    "Calls that have ended, by what they came to",
    [...ended].map(([outcome, count]) => [{ outcome }, count])
  ),
  histogram(
    "post_dial_delay_seconds",
    "From the dial request to ringing or answer, whichever was first",
    [...postDialSeconds].map(([provider, seconds]) => [{ provider }, seconds])
  ),
  histogram("call_duration_seconds", "From the answer to the end of the call", talkSeconds),
  histogram("slot_refill_seconds", "From a slot's becoming free, while a campaign waited for one, to the next dial request", refillSeconds)
]

const socketFamilies = ({ sockets }: CallMetrics): ReadonlyArray<Family> => {
  const all = [...sockets].map(([provider, counts]) => ({ provider, ...counts }))
  return [
    gauge(
      "media_sockets_open",
      "Websockets that carriers have opened for the audio of calls",
      all.map(({ open, provider }) => [{ provider }, open])
    ),
    counter(
      "media_sockets_refused_total",
      "Websockets that were refused: forged ones, and those for calls that are over or not of this node",
      all.flatMap(({ forged, provider, strayed }) => [
        [{ provider, reason: "forged" }, forged] as const,
        [{ provider, reason: "no_call" }, strayed] as const
      ])
    ),
    counter(
      "media_socket_frames_dropped_total",
      "Messages of audio that were dropped because the carrier was too far behind",
      all.map(({ dropped, provider }) => [{ provider }, dropped])
    )
  ]
}

const webhookFamilies = ({ endpoints, nodes }: WebhookMetrics): ReadonlyArray<Family> => {
  const byResult = (counts: ReadonlyMap<string, number>) => [...counts].map(([result, count]) => [{ result }, count] as const)
  return [
    counter("webhook_deliveries_total", "Tries to deliver a webhook", byResult(endpoints.byResult)),
    counter("node_webhook_deliveries_total", "Tries to deliver what a webhook node sends", byResult(nodes.byResult))
  ]
}

const fileFamilies = ({ failures, stored, waiting }: FileMetrics): ReadonlyArray<Family> => [
  gauge("files_waiting", "Files that only this machine's disk has, because they are not in the bucket yet; 0 without a bucket", waiting),
  counter("files_stored_total", "Files that the bucket has taken", stored),
  counter("file_store_failures_total", "Times that the bucket did not answer, or refused", failures)
]

const conversationFamilies = (counts: ConversationMetrics): ReadonlyArray<Family> => [
  gauge("conversations_live", "Calls in which an agent converses", counts.live),
  counter("conversation_turns_total", "Turns of callees", counts.turns),
  counter("conversation_opt_outs_total", "Callees who said that they must not be called again", counts.optOuts),
  counter("conversation_callbacks_total", "Callbacks that were agreed on", counts.callbacks),
  counter(
    "conversation_extractions_failed_total",
    "Nodes of whose variables the language model found out nothing",
    counts.extractionsFailed
  ),
  counter(
    "conversation_text_withheld_total",
    "Pieces of text that language models wrote and callees did not hear, by kind: tool calls that could not be carried out, special tokens",
    [
      [{ kind: "tool_call" }, counts.withheldCalls],
      [{ kind: "special_token" }, counts.withheldTokens]
    ]
  ),
  gauge("conversation_entries_waiting", "Entries of conversations that the database does not have yet", counts.entriesWaiting),
  histogram(
    "conversation_latency_seconds",
    "What callees waited for, by the provider of the service and by stage: recognition, end_of_turn and first_audio from the end of the voice, first_token from the request, synthesis from the text",
    [...counts.latencySeconds].flatMap(([stage, providers]) =>
      [...providers].map(([provider, seconds]) => [{ stage, provider }, seconds] as const)
    )
  )
]

const speechFamilies = ({ pools }: SpeechMetrics): ReadonlyArray<Family> => [
  gauge(
    "speech_jobs_running",
    "Texts, recordings and utterances that workers are at",
    [...pools].map(([pool, { running }]) => [{ pool }, running()])
  ),
  gauge(
    "speech_jobs_waiting",
    "Texts, recordings and utterances that wait for a worker",
    [...pools].map(([pool, { waiting }]) => [{ pool }, waiting()])
  )
]

const nodeFamilies = ({ decider, endpoints, liveCalls, trunks }: Sources): ReadonlyArray<Family> => {
  const { callNodes, runningCampaigns } = decider()
  const [all, single] = [trunks(), endpoints()]
  const upOf = (states: ReadonlyArray<boolean>) => states.filter((isUp) => isUp).length
  const [up, singleUp] = [upOf(all), upOf(single)]
  return [
    gauge("calls_live", "Calls of this node, from the dial request to the end", liveCalls()),
    gauge("call_nodes_connected", "Call nodes that take calls from this engine", callNodes.heard),
    gauge("calls_on_call_nodes", "Calls that this engine has dispatched to call nodes, from the claim to the record", callNodes.calls),
    gauge("campaigns_running", "Campaigns that this node dials for", runningCampaigns),
    gauge("trunks_up", "Trunks of this node that can carry calls", up),
    gauge("trunks_down", "Trunks of this node that are down or not connected yet", all.length - up),
    gauge("trunk_endpoints_up", "Of trunks with several endpoints: those that are connected", singleUp),
    gauge("trunk_endpoints_down", "Of trunks with several endpoints: those that are not", single.length - singleUp)
  ]
}

const lockFamilies = ({ decider }: Sources): ReadonlyArray<Family> => {
  const { isHeld, isTakeover, seconds } = decider()
  return [
    gauge("engine_lock_held", "1 while this engine decides what is dialed on this database, otherwise 0", Number(isHeld)),
    gauge("engine_lock_seconds", "Since this engine took the database", seconds),
    gauge("engine_took_over", "1 if it took the place of an engine that had not ended in order, otherwise 0", Number(isTakeover))
  ]
}

const mediaFamilies = ({ media }: Sources): ReadonlyArray<Family> => {
  const { framesLate, limit, placed, streams } = media()
  return [
    gauge("media_calls", "Calls that have audio or will have it once they are answered", placed),
    gauge(
      "media_calls_limit",
      "How many of those there may be: what is set, or was measured, whichever is less; missing as long as neither is",
      Number.isFinite(limit) ? limit : []
    ),
    gauge("media_streams", "Calls whose audio flows", streams),
    counter("media_frames_late_total", "Frames of audio that left more than 30 ms late, or not at all", framesLate)
  ]
}

const httpFamilies = ({ routes }: Sources): ReadonlyArray<Family> => {
  const all = [...routes()]
  return [
    counter(
      "http_requests_total",
      "Requests that were answered",
      all.flatMap(({ answers, method, route }) =>
        answers.map(([status, count]) => [{ method, route, status: String(status) }, count] as const)
      )
    ),
    histogram(
      "http_request_duration_seconds",
      "From the whole request to the beginning of its answer; without answers that were known at once",
      all.filter(({ seconds }) => seconds.count > 0).map(({ method, route, seconds }) => [{ method, route }, seconds])
    )
  ]
}

const redisFamilies = ({ counts, state }: RedisService): ReadonlyArray<Family> => {
  const { _tag } = state()
  return [
    gauge(
      "redis_up",
      "1 while this engine and others hear each other by Redis, otherwise 0; missing without REDIS_URL",
      _tag === "Off" ? [] : Number(_tag === "Up")
    ),
    counter(
      "redis_commands_failed_total",
      "Commands that Redis did not answer in time or refused, and those that were not sent while it was away",
      counts.commandsFailed
    ),
    counter("redis_reconnects_total", "Connections to Redis that were opened again", counts.reconnects)
  ]
}

const resolutionMillis = 20
/** How late timers are: the monitor measures the whole interval between two of them. */
const seconds = (nanos: number): number => (Number.isFinite(nanos) ? Math.max(0, nanos / 1e9 - resolutionMillis / 1000) : 0)

/** The cluster's metrics have no HELP lines; each gets its name in words. */
const withHelp = (text: string): string =>
  text.replace(/^(# HELP .*\n)?# TYPE (\S+) /gm, (found, help: string | undefined, name: string) =>
    help === undefined ? `# HELP ${name} ${name.replaceAll("_", " ")}\n${found}` : found
  )

/** All metrics in the text format of Prometheus; undefined if METRICS is off. */
export const metricsText = Effect.fnUntraced(function* (sources: Sources) {
  if ((yield* Config).metrics === "off") return undefined
  const pools = yield* PoolUses
  const calls = yield* CurrentCallMetrics
  const webhooks = yield* CurrentWebhookMetrics
  const conversations = yield* CurrentConversationMetrics
  const speech = yield* CurrentSpeechMetrics
  const files = yield* CurrentFileMetrics
  const redis = yield* Redis
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const monitor = monitorEventLoopDelay({ resolution: resolutionMillis })
      monitor.enable()
      return monitor
    }),
    (monitor) => Effect.sync(() => monitor.disable())
  )
  // Covers the time since the metrics were last read.
  const lateness = () => {
    const family = gauge("event_loop_delay_seconds", "How late timers are", [
      [{ quantile: "0.5" }, seconds(delay.percentile(50))],
      [{ quantile: "0.99" }, seconds(delay.percentile(99))],
      [{ quantile: "1" }, seconds(delay.max)]
    ])
    delay.reset()
    return family
  }
  const poolFamilies = () => [
    gauge("postgres_statements_running", "Statements and transactions with a connection", [
      [{ pool: "engine" }, pools.engine.running],
      [{ pool: "requests" }, pools.requests.running]
    ]),
    gauge("postgres_statements_waiting", "Statements and transactions that wait for a connection", [
      [{ pool: "engine" }, pools.engine.waiting],
      [{ pool: "requests" }, pools.requests.waiting]
    ])
  ]
  const families = () => [
    ...callFamilies(calls),
    ...socketFamilies(calls),
    ...conversationFamilies(conversations),
    ...speechFamilies(speech),
    ...webhookFamilies(webhooks),
    ...fileFamilies(files),
    ...redisFamilies(redis),
    ...lockFamilies(sources),
    ...nodeFamilies(sources),
    ...mediaFamilies(sources),
    ...httpFamilies(sources),
    ...processFamilies(),
    lateness(),
    ...poolFamilies()
  ]
  return Effect.map(PrometheusMetrics.format(), (ofCluster) => `${withHelp(ofCluster)}${families().map(textOf).join("")}`)
})
