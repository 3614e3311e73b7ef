/**
 * Calls full of words and digits that occur nowhere else: spoken and keyed by the callee, said by the agent, sent to a tool and returned by
 * it.
 */
import { randomInt } from "node:crypto"
import type { Test } from "tap"
import type { Completion } from "#test/emulators/openai/completions.ts"
import type { ChatBody } from "#test/emulators/openai/refusals.ts"
import type { Move } from "#test/emulators/shared/Talker.ts"
import { formsOf } from "./databaseDump.ts"
import { documentServer } from "./documentServer.ts"

export const letters = (length: number) => Array.from({ length }, () => String.fromCharCode(97 + randomInt(26))).join("")

/** The canaries of one call. The spoken words are a parameter, because the recognizer in use must understand them. */
export const canariesOf = (spoken: string) => ({
  spoken,
  keyed: String(randomInt(10_000_000, 100_000_000)),
  said: letters(16),
  asked: letters(16),
  answered: letters(16),
  gathered: letters(16),
  given: letters(16)
})
export type Canaries = ReturnType<typeof canariesOf>

/** Half of a word or a number may occur anywhere, so only whole ones are searched for. */
export const wholeFormsOf = (word: string) => formsOf(word).filter(({ length }) => length >= word.length)

const mostMoves = 20

export class CanaryTalk {
  call: Canaries
  /** What the callee does once the agent has spoken. */
  asks: "words" | "keys" | "nothing" = "words"

  constructor(call: Canaries) {
    this.call = call
  }

  begin(call: Canaries): void {
    this.call = call
    this.asks = "words"
  }

  /** Answers as a language model that asks for words, looks them up, says what it has found, asks for keys, and says goodbye. */
  answer({ messages = [], tools = [] }: ChatBody): Completion {
    const { call } = this
    const names = tools.map((tool) => String(tool.function?.name))
    const use = (name: string, given: object) => ({ calls: [{ name, arguments: [JSON.stringify(given)] }] })
    const say = (next: CanaryTalk["asks"], ...text: ReadonlyArray<string>) => {
      this.asks = next
      return { text }
    }
    if (names.includes("save_variables")) return use("save_variables", { wish: call.gathered })
    const has = (role: string, word: string) => messages.some((one) => one.role === role && String(one.content).includes(word))
    if (has("user", call.keyed)) return names.includes("through") ? use("through", {}) : say("nothing", "Thank you. ", "Goodbye.")
    if (has("tool", call.answered)) return say("keys", `It is ${call.said}. `, "Which number have you?")
    if (has("user", call.spoken) && names.includes("look_up")) {
      this.asks = "nothing"
      return use("look_up", { question: call.asked })
    }
    return say("words", "Which words have you?")
  }

  moves(does: { readonly words: () => Pick<Move, "says">; readonly keys: () => Pick<Move, "presses" | "says"> }): ReadonlyArray<Move> {
    const isAsked = () => this.asks !== "nothing"
    const act = (): Pick<Move, "presses" | "says"> => (this.asks === "keys" ? does.keys() : this.asks === "words" ? does.words() : {})
    return Array.from({ length: mostMoves }, () => ({
      get cue() {
        return isAsked() ? { afterAgent: 1000 } : { after: Number.POSITIVE_INFINITY }
      },
      get presses() {
        return act().presses
      },
      get says() {
        return act().says
      }
    }))
  }

  /** Starts the server that the tool sends its requests to, and returns its address. */
  lookUp(t: Test): Promise<string> {
    return documentServer(t, () => JSON.stringify({ found: this.call.answered }), "application/json")
  }
}

type Must = (method: string, path: string, body: object) => Promise<Readonly<Record<string, never>>>

const position = { x: 0, y: 0 }
const extraction = { extraction_enabled: true, extraction_variables: [{ name: "wish", type: "string", prompt: "The wish." }] }

/** Creates an agent with a tool at this address, and with these nodes in addition. */
export const createCanaryAgent = async (must: Must, url: string, ...others: ReadonlyArray<object>) => {
  const parameters = [{ name: "question", type: "string", description: "What.", required: true }]
  const config = { method: "POST", url, parameters }
  const tool = await must("POST", "/tools/", {
    name: "Look up",
    category: "http_api",
    definition: { schema_version: 1, type: "http_api", config }
  })
  const greeting = "Good morning. Which words have you?"
  const start = { name: "Ask", prompt: "Ask.", greeting, tool_uuids: [String(tool["tool_uuid"])], ...extraction }
  return await must("POST", "/workflow/create/definition", {
    name: "Canaries",
    workflow_definition: {
      nodes: [
        { id: "1", type: "startCall", position, data: start },
        { id: "2", type: "endCall", position, data: { name: "End", prompt: "Say goodbye." } },
        ...others
      ],
      edges: [{ id: "through", source: "1", target: "2", data: { label: "Through", condition: "All is known." } }]
    }
  })
}
