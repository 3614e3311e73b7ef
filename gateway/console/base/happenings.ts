/** What happens in a conversation beside what is said, in words: in calls, on the page that calls, and in chats. */
import { words } from "./words.ts"

type Payload = Readonly<Record<string, unknown>>

const text = (value: unknown): string => (typeof value === "string" ? value : "")

const entered = ({ node_name: name }: Payload) => `Enters ${text(name)}`
const called = ({ arguments: given, function_name: name }: Payload) =>
  `Calls ${text(name)}${given === undefined ? "" : ` with ${JSON.stringify(given)}`}`
const answered = ({ function_name: name, result }: Payload) => `${text(name)} answers${result === undefined ? "" : ` ${text(result)}`}`
const failed = ({ error, processor }: Payload) => `${words(text(processor))}: ${text(error)}`

/** By the types of a call's feedback, and those of a chat's events. */
const happenings: Readonly<Record<string, (payload: Payload) => string>> = {
  "rtf-node-transition": entered,
  node_transition: entered,
  "rtf-function-call-start": called,
  tool_call_started: called,
  "rtf-function-call-end": answered,
  tool_call_result: answered,
  "rtf-pipeline-error": failed,
  extraction_failed: failed,
  session_end: ({ reason }) => `Ends: ${words(text(reason))}`
}

/** Undefined: it is not for people to read. */
export const happeningOf = ({ payload, type }: { readonly type: string; readonly payload: Payload }): string | undefined =>
  happenings[type]?.(payload)
