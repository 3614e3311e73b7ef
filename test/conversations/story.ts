/**
 * Conversations with audio in both directions, all at once, with a recognizer that makes no mistakes, so that only the engine's handling of turns and
 * texts is judged. The callees' log says who was called; the runs say where each conversation ended, and with which variables.
 */
import { isDeepStrictEqual } from "node:util"
import type { Test } from "tap"
import type { JsonObject } from "#core/Json.ts"
import { installRecognizer, recognizerName } from "#test/support/installRecognizer.ts"
import type { CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { numbersOf, type Run, until, untilTrue, type World } from "#test/support/engine.ts"
import { makeMouth, type SpokenUtterance } from "#test/support/utterances.ts"
import { calleesOf, isUnforeseen, sentencesOf } from "./callees.ts"
import { orderAgent } from "./graph.ts"
import { type AgentLine, ScriptedCallee } from "./ScriptedCallee.ts"
import { openTransports, type Through, type Transport } from "./transports.ts"

/** The share of calls that must end at the right node with the right variables. */
const leastShare = 0.995
/** The first calls ring until the last one has been placed. */
const longestRingSeconds = 300
const longestCallSeconds = 1200
/** The highest concurrency that a campaign may have. */
const mostInCampaign = 100

interface Size {
  readonly transport: Transport
  readonly calls: number
  readonly seed: number
  /** How long callees pause within a number and before a correction. Undefined: they do not, so that nothing depends on the speed of the machine. */
  readonly pauseMillis?: number
}

const createAgent = async ({ api }: World): Promise<number> => {
  const { body } = await api.ask("POST", "/workflow/create/definition", { name: "Orders", workflow_definition: orderAgent })
  const { id } = body as { readonly id: number } // the reply to the creation
  const workflow_configurations = {
    max_call_duration: longestCallSeconds,
    // On a busy machine, understanding an answer may take longer than the default limit of a callee's silence.
    max_user_idle_timeout: 60,
    model_overrides: { stt: { provider: recognizerName } }
  }
  const { status } = await api.ask("PUT", `/workflow/${id}`, { workflow_configurations })
  if (status !== 200) throw new Error(`the agent cannot be configured: ${status}`)
  return id
}

/** Passes the agent's lines to the callees until the test ends. */
const listen = (t: Test, { sql }: World, callees: ReadonlyMap<string, ScriptedCallee>): void => {
  let isOver = false
  const listening = until(
    "end of the test",
    async () => {
      const rows = await sql<Array<{ lines: Array<AgentLine>; phone_number: string }>>`
        SELECT a.phone_number, jsonb_agg(jsonb_build_object(
          'text', e.content -> 'payload' -> 'text',
          'at', extract(epoch FROM (e.content -> 'payload' ->> 'timestamp')::timestamptz) * 1000
        ) ORDER BY e.ordinal) AS lines
        FROM conversation_entries e JOIN attempts a ON a.id = e.call_id
        WHERE e.content ->> 'type' = 'rtf-bot-text' AND a.state <> 'ended' GROUP BY a.phone_number`
      for (const { lines, phone_number } of rows) callees.get(phone_number)?.hear(lines)
      return isOver || undefined
    },
    Number.POSITIVE_INFINITY
  )
  t.teardown(() => {
    isOver = true
    return listening
  })
}

const visitedIn = ({ gathered_context: gathered }: Run): unknown => gathered?.["nodes_visited"]

const transcriptOf = (run: Run | undefined): ReadonlyArray<string> => {
  const { realtime_feedback_events: events = [] } = (run?.logs ?? {}) as {
    readonly realtime_feedback_events?: ReadonlyArray<{ readonly type: string; readonly payload: JsonObject }>
  }
  const speakers: Readonly<Record<string, string>> = { "rtf-bot-text": "agent", "rtf-user-transcription": "callee" }
  return events.flatMap(({ payload, type }) => (speakers[type] === undefined ? [] : [`${speakers[type]}: ${String(payload["text"])}`]))
}

/** What differs from the expectations of the callee's script; undefined: nothing. */
const faultOf = ({ script }: ScriptedCallee, number: string, run: Run | undefined, log: CalleeLog): JsonObject | undefined => {
  const { disposition, path, variables } = script.expected
  const wanted = Object.fromEntries(variables.map(([name, value]) => [name, value._tag === "Equals" ? value.value : value._tag]))
  const expected = { called: 1, disposition, path, variables: wanted }
  const came = {
    called: log.of(number).filter(({ kind }) => kind === "originate").length,
    disposition: run?.gathered_context?.["call_disposition"],
    path: run === undefined ? undefined : visitedIn(run),
    variables: run?.gathered_context?.["extracted_variables"] ?? {}
  }
  return isDeepStrictEqual(came, expected) ? undefined : { script: script.name, expected, came, transcript: transcriptOf(run) }
}

/** The sentences of all callees, synthesized once. */
const spokenBy = (sentences: ReadonlyArray<string>, pauseMillis: number | undefined): ReadonlyMap<string, SpokenUtterance> => {
  const speak = makeMouth()
  const settings = { voice: "rms", ...(pauseMillis === undefined ? {} : { pauseMillis }) } as const
  return new Map(sentences.map((text) => [text, speak(pauseMillis === undefined ? text.replaceAll(" | ", " ") : text, settings)]))
}

/** Calls all callees at once, and returns the runs by number. Nobody answers before all are called. */
const callAll = async (world: World, { lives, log }: Through, numbers: ReadonlyArray<string>): Promise<ReadonlyMap<string, Run>> => {
  const { api } = world
  const agent = await createAgent(world)
  const campaigns: Array<number> = []
  for (let at = 0; at < numbers.length; at += mostInCampaign) {
    const settings = { max_concurrency: mostInCampaign, retry_config: { enabled: false } }
    campaigns.push((await api.createCampaign(agent, numbers.slice(at, at + mostInCampaign), settings)).id)
  }
  lives.letRing(true)
  for (const id of campaigns) await api.start(id)
  await untilTrue("calls to all callees", () => log.count("originate") >= numbers.length)
  lives.letRing(false)
  await untilTrue("last hang-up", () => log.live() === 0, longestCallSeconds * 1000)
  for (const id of campaigns) await api.untilState(id, "completed")
  const runs = (await Promise.all(campaigns.map((id) => api.runs(id)))).flat()
  return new Map(runs.map((run) => [String(run.initial_context?.["phone_number"]), run]))
}

export const converse = async (t: Test, { calls, pauseMillis, seed, transport }: Size): Promise<void> => {
  const scripts = calleesOf(calls, seed)
  const spoken = spokenBy(sentencesOf(scripts), pauseMillis)
  const folder = t.testdir({})
  const { through, world } = await openTransports(t, [transport], {
    folder,
    environment: {
      ...installRecognizer(folder, { callees: spoken }),
      ORG_CONCURRENCY: String(calls),
      RING_TIMEOUT: String(longestRingSeconds)
    }
  })
  const farEnd = through.get(transport)
  if (farEnd === undefined) throw new Error(`no transport ${transport}`)
  const { faults, log } = farEnd
  const numbers = numbersOf(calls, ["11"])
  const callees = new Map(scripts.map((script, at) => [numbers[at] ?? "", new ScriptedCallee(script, spoken)]))
  log.talkerFor = (channelId) => callees.get(log.of(channelId)[0]?.number ?? "")?.talker
  listen(t, world, callees)
  const runs = await callAll(world, farEnd, numbers)

  const wrong = [...callees].flatMap(([number, callee]) => faultOf(callee, number, runs.get(number), log) ?? [])
  const turns = [...callees.values()].map(({ talker }) => talker.turns)
  const right = calls - wrong.length
  const unforeseen = turns.flat().filter(({ text }) => isUnforeseen(text))
  t.comment(`${transport}: ${right} of ${calls} calls ended at the right node with the right variables, ${log.mostLive()} at once`)
  t.comment(`${turns.flat().length} turns of the callees, ${unforeseen.length} of them unforeseen`)
  for (const one of wrong) t.comment(JSON.stringify(one))
  t.ok(right / calls >= leastShare, `then ${(100 * right) / calls} % ended at the right node with the right variables`)
  t.equal(log.mostLive(), calls, "then all of them were up at once")
  const brief = turns.filter(({ length }) => length < 6)
  t.strictSame(brief, [], "then every callee has spoken at least six times")
  t.strictSame(faults, [], "then the far end itself had no faults")
}
