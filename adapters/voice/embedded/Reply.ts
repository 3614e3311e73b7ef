/** The answers of the embedded model. They depend on the request alone: the same request always gets the same answer. */
import { isObject, type JsonObject } from "#core/Json.ts"
import type { ModelMessage, ModelNode, ModelPurpose, ModelTool } from "#core/model/LanguageModel.ts"
import { edgeFor, isIrreversible, keysOf, meaningOf } from "./edges.ts"
import type { AuthoredNode, AuthoredRequest } from "./EmbeddedDialogue.ts"
import { triggers } from "./lexicon.ts"
import * as lines from "./lines.ts"
import type { Meaning } from "./phrases.ts"
import { answered, isPresence } from "./Question.ts"
import { extracted, kindOf, valueIn, valuePlaces } from "./Slots.ts"
import { digitsIn } from "./SpokenValues.ts"
import { meaningsOf } from "./Understanding.ts"
import { wordsOf } from "./words.ts"

type Edge = ModelNode["edges"][number]

interface Reply {
  /** May be empty if a tool is called. */
  readonly text: string
  readonly call?: { readonly name: string; readonly arguments: JsonObject }
}

const say = (text: string): Reply => ({ text })
const use = (name: string, text = "", given: JsonObject = {}): Reply => ({ text, call: { name, arguments: given } })

export const replyTo = (request: AuthoredRequest): Reply => replies[request.purpose](request)

const replies: { readonly [Purpose in ModelPurpose]: (request: AuthoredRequest) => Reply } = {
  turn: (request) => {
    const last = request.messages.at(-1)
    return last?._tag === "User" ? answer(request, last) : speakFirst(request)
  },
  extract: (request) => use(request.tools[0]?.name ?? "", "", extracted(request)),
  check_in: () => say(lines.checkIn),
  farewell: () => say(lines.farewell),
  introduce: ({ node }) => say(node.dialogue.introduction ?? lines.introduction)
}

const speakFirst = ({ messages, node }: AuthoredRequest): Reply => {
  const text = lines.sayOf(node)
  const last = messages.at(-1)
  if (last?._tag === "ToolResult" && last.result["status"] === "error" && node.edges.every(({ tool }) => tool !== last.name))
    return say(`${lines.cannotConnect} ${text}`)
  const [edge, ...others] = node.edges
  // A node that asks nothing has nothing to wait for.
  const isWaiting = text.includes("?") || node.variables.length > 0 || others.length > 0
  return edge === undefined || isWaiting || isIrreversible(node, edge) ? say(text) : use(edge.tool, text)
}

interface Heard {
  readonly request: AuthoredRequest
  readonly node: AuthoredNode
  readonly text: string
  readonly isKeyed: boolean
  readonly meanings: ReadonlySet<Meaning>
  /** The agent's lines in this node, the last one first. */
  readonly said: ReadonlyArray<Extract<ModelMessage, { _tag: "Assistant" }>>
}

const answer = (request: AuthoredRequest, last: Extract<ModelMessage, { _tag: "User" }>): Reply => {
  const { messages, node } = request
  const { text } = last
  const isKeyed = last.isKeyed === true
  const words = wordsOf(text)
  const here = messages.slice(messages.findLastIndex(({ _tag }) => _tag === "ToolResult") + 1)
  const said = here.flatMap((message) => (message._tag === "Assistant" && message.text.trim() !== "" ? [message] : [])).toReversed()
  const meanings = isKeyed ? new Set<Meaning>() : meaningsOf(words, valuePlaces(words))
  const heard = { request, node, text, isKeyed, meanings, said }
  return (
    optOut(heard) ??
    elsewhere(heard) ??
    confirmed(heard) ??
    chosen(heard, edgeFor(node, text, isKeyed)) ??
    ofAnyNode(heard) ??
    misunderstood(heard)
  )
}

const endOf = ({ edges }: ModelNode): Edge | undefined => edges.find(({ leadsTo }) => leadsTo === "endCall")

/** An opt-out is final and understood at every node: the callee is not asked to confirm it. */
const optOut = ({ meanings, node, request }: Heard): Reply | undefined => {
  if (!meanings.has("opt_out")) return undefined
  const tool = request.tools.find(({ name }) => name === "opt_out")
  const edge = node.edges.find((one) => meaningOf(one) === "opt_out") ?? endOf(node)
  if (tool !== undefined) return use(tool.name)
  return edge === undefined ? say(lines.optedOut) : use(edge.tool)
}

/** Handles a plain yes or no that does not answer the node's question, but says whether somebody is there, or who it is. */
const elsewhere = (heard: Heard): Reply | undefined => {
  const { isKeyed, meanings, node, said } = heard
  const isPlain = [...meanings].every((meaning) => meaning === "affirm" || meaning === "deny")
  if (isKeyed || meanings.size === 0 || !isPlain) return undefined
  const asks = answered(node, said[0])
  if (asks === "answer") return undefined
  if (asks === "present") return say(question(heard, true))
  const wrong = node.edges.find((edge) => meaningOf(edge) === "wrong_person")
  if (meanings.has("affirm")) return say(lines.sayOf(node))
  return wrong === undefined ? undefined : chosen(heard, wrong)
}

type Verdict = "yes" | "no" | undefined
const verdictOf = ({ isKeyed, meanings, text }: Heard): Verdict => {
  if (isKeyed) return text === "1" ? "yes" : text === "2" ? "no" : undefined
  return meanings.has("affirm") ? "yes" : meanings.has("deny") ? "no" : undefined
}

/** Handles the answer to a question whether something was understood correctly. */
const confirmed = (heard: Heard): Reply | undefined => {
  const { isKeyed, node, said, text } = heard
  const asked = said[0]?.text ?? ""
  if (!lines.isConfirmation(asked)) return undefined
  const verdict = verdictOf(heard)
  const digits = lines.digitsReadBack(asked)
  const pending = digits === undefined ? node.edges.find((edge) => lines.confirms(edge, asked)) : edgeFor(node, digits, true)
  const numbers = digits === undefined ? numbersSaid(heard) : []
  // The callee has said another number, which is now the one to confirm.
  if (pending !== undefined && numbers.length > 0 && !asked.startsWith(lines.confirmationOf(pending, numbers)))
    return chosen(heard, pending)
  const isOther = digits !== undefined && digitsIn(wordsOf(text)) !== undefined
  if (verdict === "yes" && !isOther && pending !== undefined) return use(pending.tool)
  if (verdict === "no" && !isOther) return say(`All right. ${lines.sayOf(node)}`)
  const other = isKeyed && digits === undefined ? undefined : edgeFor(node, text, isKeyed)
  return other === undefined || other === pending ? (isOther ? undefined : pending && say(asked)) : chosen(heard, other)
}

/** Numbers of at least this many digits are read back if they were spoken, not keyed. */
const READ_BACK_DIGITS = 4

/** The numbers for the node's variables that were spoken: any of them may have been misheard. Keys are certain. */
const numbersSaid = ({ isKeyed, node, text }: Heard): ReadonlyArray<string> =>
  isKeyed
    ? []
    : node.variables
        .filter((variable) => ["digits", "number"].includes(kindOf(variable)))
        .flatMap((variable) => {
          const value = valueIn(variable, text)
          return value === undefined ? [] : [String(value)]
        })

const chosen = (heard: Heard, edge: Edge | undefined): Reply | undefined => {
  if (edge === undefined) return undefined
  const { isKeyed, node, text } = heard
  if (isIrreversible(node, edge)) return say(lines.confirmationOf(edge, numbersSaid(heard)))
  const digits = node.variables.filter((variable) => kindOf(variable) === "digits").map((variable) => valueIn(variable, text))
  const long = digits.find((value) => typeof value === "string" && value.length >= READ_BACK_DIGITS)
  const isSpoken = !isKeyed && typeof long === "string" && edgeFor(node, long, true) === edge
  return isSpoken ? say(lines.readBack(long)) : use(edge.tool)
}

/** A tool with this meaning that needs no argument but a reason. */
const toolFor = ({ node, request }: Heard, meaning: Meaning): ModelTool | undefined => {
  const pattern = triggers.find(([name]) => name === meaning)?.[1]
  return request.tools.find(({ description, name, parameters }) => {
    const { required } = parameters
    const isCallable = !Array.isArray(required) || required.every((one) => one === "reason")
    const isEdge = node.edges.some(({ tool }) => tool === name)
    return isCallable && !isEdge && pattern?.test(`${name.replaceAll("_", " ")} ${description}`.toLowerCase()) === true
  })
}
const useTool = ({ name, parameters: { properties } }: ModelTool, reason: string): Reply =>
  use(name, "", isObject(properties) && Object.hasOwn(properties, "reason") ? { reason } : {})

/** The agent's last question. Lines that were cut off, deal with a misunderstanding or ask whether somebody is there do not count. */
const question = ({ node, said }: Heard, mayConfirm = false): string => {
  const line = said.find(
    ({ text, wasInterrupted }) =>
      !wasInterrupted && !text.startsWith(lines.apology) && !isPresence(text) && (mayConfirm || !lines.isConfirmation(text))
  )
  return line?.text ?? lines.sayOf(node)
}

const ofAnyNode = (heard: Heard): Reply | undefined => {
  const { meanings, node } = heard
  if (meanings.has("human")) {
    const tool = toolFor(heard, "human")
    return tool === undefined ? say(`${lines.cannotConnect} ${question(heard)}`) : useTool(tool, "The callee asked for a person")
  }
  if (meanings.has("goodbye")) {
    const tool = toolFor(heard, "goodbye")
    const edge = endOf(node)
    if (tool !== undefined) return useTool(tool, "The callee said goodbye")
    return edge === undefined || isIrreversible(node, edge) ? say(lines.farewell) : use(edge.tool)
  }
  return meanings.has("repeat") ? say(question(heard)) : undefined
}

/** Asks again, then offers keys, then takes the fallback edge, or one that ends the call. */
const misunderstood = (heard: Heard): Reply => {
  const { node, said } = heard
  const others = said.findIndex(({ text }) => !text.startsWith(lines.apology))
  const times = Math.min(node.misunderstood, others < 0 ? said.length : others)
  if (times === 0) return say(`${lines.apology} ${question(heard)}`)
  const { fallbackEdge } = node.dialogue
  const fallback =
    node.edges.find(({ id }) => id === fallbackEdge) ?? node.edges.find((edge) => edge.leadsTo === "endCall" && !isIrreversible(node, edge))
  if (times > 1 && fallback !== undefined && !isIrreversible(node, fallback)) return use(fallback.tool)
  const keys = node.variables.length > 0 ? [] : keysOf(node)
  return say(`${lines.apology} ${keys.length > 1 ? lines.options(keys) : question(heard)}`)
}
