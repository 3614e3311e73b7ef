/** What an agent says without a model. Agents that do not speak English set their own in `static_lines`. */
import { longestStaticLine } from "#core/agent/AgentConfigurations.ts"
import { isObject, type JsonObject } from "#core/Json.ts"

export interface StaticLines {
  /** While the agent is thinking, or waits for a tool; said in turn. */
  readonly fillers: ReadonlyArray<string>
  /** When there is no answer to what the callee said. */
  readonly reprompt: string
  readonly checkIn: string
  readonly goodbye: string
  /** Before the agent gives up and ends the call. */
  readonly apology: string
}

const english: StaticLines = {
  fillers: ["One moment, please.", "I am still on it, one moment.", "Thank you for waiting."],
  reprompt: "Sorry, I did not get that. Could you say it again?",
  checkIn: "Are you still there?",
  goodbye: "Thank you for your time. Goodbye.",
  apology: "I am sorry, something is not working on my side. Goodbye."
}

const lineIn = (set: JsonObject, name: string, standard: string): string => {
  const given = set[name]
  return typeof given === "string" && given.trim() !== "" ? given.trim().slice(0, longestStaticLine) : standard
}

export const staticLinesOf = (configurations: JsonObject): StaticLines => {
  const set = isObject(configurations["static_lines"]) ? configurations["static_lines"] : {}
  const filler = lineIn(set, "filler", "")
  return {
    fillers: filler === "" ? english.fillers : [filler],
    reprompt: lineIn(set, "reprompt", english.reprompt),
    checkIn: lineIn(set, "check_in", english.checkIn),
    goodbye: lineIn(set, "goodbye", english.goodbye),
    apology: lineIn(set, "apology", english.apology)
  }
}
