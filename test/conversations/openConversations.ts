/** A whole engine, and callees who speak: each answers what the agent has said, however long that takes, and again if it asks again. */
import type { Test } from "tap"
import type { JsonObject } from "#core/Json.ts"
import { makeTalker, type Move, type Talker, type Utterance } from "#test/emulators/shared/Talker.ts"
import { type Run, until, type World, type WorldOptions } from "#test/support/engine.ts"
import type { Sounds } from "#test/support/recordedCall.ts"
import { openTransports, type Through, type Transport } from "./transports.ts"

/** Stands for a hangup instead of an answer. */
export const hangsUp = "hangs up"
/** `thenOver`: what the callee says over the agent's next line, whatever that is. */
interface Answer extends Utterance {
  readonly thenOver?: Utterance
}
/** What a callee answers when the agent has said these lines so far. Undefined: they wait for the next line. */
export type Answers = (lines: ReadonlyArray<string>) => Answer | typeof hangsUp | undefined
const mostTurns = 40
/** How much of a line is heard before it is talked over. */
const overMillis = 1500

interface Callee {
  readonly answers: Answers
  /** What the agent has said so far. */
  lines: ReadonlyArray<string>
}

const movesOf = (callee: Callee): ReadonlyArray<Move> => {
  let answered = 0
  let over: Utterance | undefined
  const answer = () => callee.answers(callee.lines)
  return Array.from({ length: mostTurns }, () => ({
    get cue() {
      if (over !== undefined) return { intoAgent: overMillis }
      return callee.lines.length > answered && answer() !== undefined ? { afterAgent: 700 } : { after: Number.POSITIVE_INFINITY }
    },
    get hangsUp() {
      return over === undefined && answer() === hangsUp ? true : undefined
    },
    get says() {
      const [said, says] = [over, answer()]
      over = undefined
      // The line that is talked over needs no other answer.
      answered = callee.lines.length + (said === undefined ? 0 : 1)
      if (said !== undefined || says === hangsUp) return said
      over = says?.thenOver
      return says
    }
  }))
}

/** Passes the agent's lines to the callees until the test ends. */
const listen = (t: Test, { sql }: World, callees: ReadonlyMap<string, Callee>): void => {
  let isOver = false
  const listening = until("end of the test", async () => {
    const rows = await sql<Array<{ lines: Array<string>; number: string }>>`
      SELECT a.phone_number AS number, array_agg(e.content -> 'payload' ->> 'text' ORDER BY e.ordinal) AS lines
      FROM conversation_entries e JOIN attempts a ON a.id = e.call_id
      WHERE e.content ->> 'type' = 'rtf-bot-text' GROUP BY a.phone_number`
    for (const { lines, number } of rows) Object.assign(callees.get(number) ?? {}, { lines })
    return isOver || undefined
  })
  t.teardown(() => {
    isOver = true
    return listening
  })
}

interface Setting {
  /** The graph of the agent. */
  readonly definition: JsonObject | undefined
  readonly configurations: object
  readonly callees: ReadonlyMap<string, Answers>
  /** What calls may go through; by default the first. */
  readonly through?: ReadonlyArray<Transport>
}

/** Everything is by the callee's number. */
interface Callees {
  readonly callees: ReadonlyMap<string, Callee>
  readonly talkers: Map<string, Talker>
  readonly sounds: Map<string, Sounds>
}

/** Makes the callees at a far end speak, and keeps what they hear and say. */
const speakThrough = ({ hangUp, log }: Through, { callees, sounds, talkers }: Callees): void => {
  log.talkerFor = (channelId) => {
    const number = log.of(channelId)[0]?.number ?? ""
    const callee = callees.get(number)
    if (callee === undefined) return undefined
    const talker = makeTalker(movesOf(callee), { press: () => {}, hangUp: () => hangUp(number) })
    const { heard, said }: Sounds = { heard: [], said: [] }
    talkers.set(number, talker)
    sounds.set(number, { heard, said })
    const next: Talker["next"] = (frame) => {
      if (frame !== undefined) heard.push(Buffer.from(frame))
      const says = talker.next(frame)
      said.push(says)
      return says
    }
    return { next }
  }
}

export const openConversations = async (t: Test, setting: Setting, options: Pick<WorldOptions, "environment" | "folder">) => {
  const { callees: answers, through: names = ["emulated asterisk"] } = setting
  const { through, world } = await openTransports(t, names, { ...options, environment: { RECORDINGS: "on", ...options.environment } })
  const callees = new Map([...answers].map(([number, answers]): [string, Callee] => [number, { answers, lines: [] }]))
  listen(t, world, callees)
  const sounds = new Map<string, Sounds>()
  const talkers = new Map<string, Talker>()
  for (const end of through.values()) speakThrough(end, { callees, sounds, talkers })
  /** Creates an agent with this graph, and these settings. */
  const agentWith = async (configurations: object) => {
    const created = { name: "Conversations", workflow_definition: setting.definition }
    const { body } = await world.api.ask("POST", "/workflow/create/definition", created)
    const agent = body as { readonly id: number; readonly workflow_uuid: string } // the reply to the creation
    t.match(await world.api.ask("PUT", `/workflow/${agent.id}`, { workflow_configurations: configurations }), { status: 200 })
    return {
      call: async (phone_number: string, initial_context: JsonObject = {}, name = names[0]): Promise<number> => {
        const { telephony_configuration_id } = through.get(name ?? "emulated asterisk") ?? {}
        const asked = { phone_number, initial_context, telephony_configuration_id }
        const { body } = await world.api.ask("POST", `/public/agent/workflow/${agent.workflow_uuid}`, asked)
        return (body as { readonly workflow_run_id: number }).workflow_run_id // the reply to the request for a call
      },
      ended: (id: number) =>
        until("end of the run", async () => {
          const run = (await world.api.ask("GET", `/workflow/${agent.id}/runs/${id}`)).body as Run
          return run.is_completed ? run : undefined
        })
    }
  }
  return {
    ...(await agentWith(setting.configurations)),
    agentWith,
    letRing: (on: boolean) => {
      for (const { lives } of through.values()) lives.letRing(on)
    },
    linesTo: (number: string) => callees.get(number)?.lines ?? [],
    /** How often any phone was called. */
    originated: () => [...through.values()].reduce((sum, { log }) => sum + log.count("originate"), 0),
    sounds,
    talkers,
    through,
    world
  }
}
