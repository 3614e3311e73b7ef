/**
 * What each server has turned out to need, so that only its first request is refused, or answered to no avail. A server is an address and a model:
 * the model has the chat template. Forgotten when the engine stops.
 */
import type { Refusal } from "#adapters/voice/shared/AnswerStream.ts"

export interface Habits {
  /** Messages must begin with the user's and alternate. */
  readonly alternates: boolean
  /** There must be no system message. */
  readonly refusesSystem: boolean
  /** There must be no tool messages either: calls and results are part of the text. */
  readonly refusesTools: boolean
  /** There must be no list of tools: the instructions describe them, and the model writes its calls as text. */
  readonly describesTools: boolean
  /** How a request says that a tool must be called. */
  readonly toolChoice: "named" | "required" | "none"
  /** Unknown members of messages are refused, even if the server sent them. */
  readonly refusesMembers: boolean
  /** Answers begin with a thought that only has an end. */
  readonly startsThinking: boolean
}

const ordinary: Habits = {
  alternates: false,
  refusesSystem: false,
  refusesTools: false,
  describesTools: false,
  toolChoice: "named",
  refusesMembers: false,
  startsThinking: false
}

/** The server that has not been asked for the longest time is forgotten. */
const mostServers = 1000

export class ServerHabits {
  readonly #known = new Map<string, Habits>()

  of(server: string): Habits {
    const known = this.#known.get(server)
    if (known !== undefined) this.#keep(server, known)
    return known ?? ordinary
  }

  learn(server: string, habits: Partial<Habits>): void {
    this.#keep(server, { ...this.of(server), ...habits })
  }

  #keep(server: string, habits: Habits): void {
    this.#known.delete(server)
    this.#known.set(server, habits)
    const [oldest] = this.#known.keys()
    if (this.#known.size > mostServers && oldest !== undefined) this.#known.delete(oldest)
  }
}

interface Remedy {
  /** What an error says that asks for it. */
  readonly words: RegExp
  /** The mildest first. */
  readonly changes: (habits: Habits) => ReadonlyArray<Partial<Habits>>
  /** Not tried with a server that has not asked for it. */
  readonly mustBeAskedFor?: true
}

const otherChoices = ({ toolChoice }: Habits): ReadonlyArray<Partial<Habits>> =>
  (["named", "required", "none"] as const).filter((one) => one !== toolChoice).map((one) => ({ toolChoice: one }))

const remedies: ReadonlyArray<Remedy> = [
  // Ollama, of models without tools in their template, and vLLM without a parser for their calls.
  {
    words: /not support (?:tool|function)|tools? .{0,200}not supported|tool.?call.?parser/i,
    changes: () => [{ describesTools: true, refusesTools: true }],
    mustBeAskedFor: true
  },
  // https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670
  { words: /tool.?choice/i, changes: otherChoices },
  { words: /system\b.{0,500}(?:support|allow)/is, changes: () => [{ alternates: true, refusesSystem: true }], mustBeAskedFor: true },
  // https://github.com/vllm-project/vllm/issues/6862
  {
    words: /alternat|\brole|\buser\b|template|jinja|first message|last message|contents/i,
    changes: () => [{ alternates: true }, { alternates: true, refusesTools: true }]
  },
  {
    words: /reasoning|propert|extra|additional|unknown|unexpected|unrecognized|unsupported|not permitted/i,
    changes: () => [{ refusesMembers: true }]
  },
  // llama.cpp reads the request with a JSON library, whose errors name neither the member nor what it should be.
  { words: /must be (?:a )?string|expected (?:a )?string|is object/i, changes: otherChoices, mustBeAskedFor: true }
]

const noRemedy = /context_length|maximum context|model_not_found/i

/**
 * What to try next with a server that has refused a request, the likeliest first. Unless its words ask for it, only the mildest change of each kind is
 * tried, and after a fault of the server's none: another request may succeed by chance.
 */
export const remediesFor = ({ status, text }: Refusal, habits: Habits): ReadonlyArray<Habits> => {
  const isRefused = status === 400 || status === 422
  if ((!isRefused && status !== 500 && status !== 501) || noRemedy.test(text)) return []
  const named = remedies.filter(({ words }) => words.test(text))
  const others = isRefused ? remedies.filter((remedy) => remedy.mustBeAskedFor !== true && !named.includes(remedy)) : []
  return [...named.flatMap(({ changes }) => changes(habits)), ...others.flatMap(({ changes }) => changes(habits).slice(0, 1))].map(
    (changed) => ({
      ...habits,
      ...changed
    })
  )
}
