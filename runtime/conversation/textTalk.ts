/**
 * A conversation in writing, for trying out an agent without a phone: the user types what the callee would say, reads what the agent says, and
 * sees the current graph node, the variables found, how long each turn took and how the call ends. Nobody is called, and nothing is stored.
 */
import { Clock, Effect, type Scope } from "effect"
import type { Conclusion, ConversationPlan } from "#core/agent/conversation/ConversationState.ts"
import type { JsonObject } from "#core/Json.ts"
import type { LanguageModel } from "#core/model/LanguageModel.ts"
import { type ConversationActor, type ConversationFact, type ConversationPorts, makeConversation } from "./ConversationActor.ts"
import { firstTokenTimed } from "./firstToken.ts"
import { writtenLines } from "./writtenLines.ts"

interface TextTalk {
  readonly plan: ConversationPlan
  readonly model: LanguageModel
  readonly context: JsonObject
  readonly runTool: ConversationPorts["runTool"]
  readonly write: (line: string) => void
  /** The next line that the callee types; undefined if they hang up. */
  readonly read: () => Promise<string | undefined>
}

/** Effectively unlimited: a writer who is thinking is not a silent callee. */
const patienceMillis = 86_400_000
const keys = /^#([0-9*#A-D]+)$/

/** `#12` presses the keys 1 and 2. */
export const textTalk = Effect.fnUntraced(function* ({
  context,
  model,
  plan,
  read,
  runTool,
  write
}: TextTalk): Effect.fn.Return<Conclusion, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const waits = makeWaits(() => clock.currentTimeMillisUnsafe())
  const settings = { ...plan.settings, idleMillis: patienceMillis, maxCallMillis: patienceMillis }
  const speaker = writtenLines(
    (line) => {
      waits.written()
      write(`agent: ${line}`)
    },
    (line) => actor.tell({ _tag: "LineSpoken", line })
  )
  const actor: ConversationActor = yield* makeConversation(
    { ...plan, settings },
    {
      model: waits.over(model),
      speaker,
      runTool,
      sendDigits: (digits) =>
        Effect.as(
          Effect.sync(() => write(`  presses ${digits}`)),
          { _tag: "Sent" }
        ),
      transfer: () => Effect.succeed({ _tag: "Failed", reason: "Transfers are not available." }),
      write: (fact) =>
        Effect.sync(() => {
          for (const line of describe(fact)) write(`  ${line}`)
        }),
      hangUp: () => {},
      awaitMoment: () => actor.tell({ _tag: "MessageMoment", canSpeak: true })
    }
  )
  actor.tell({ _tag: "Started", context })
  const tellWaits = () => {
    const told = waits.told()
    if (told !== undefined) write(`  ${told}`)
  }
  const callee = Effect.gen(function* () {
    while (true) {
      yield* actor.calleesTurn
      tellWaits()
      const line = yield* Effect.promise(read)
      waits.begin()
      if (line === undefined) break
      const pressed = keys.exec(line.trim())?.[1]
      if (pressed === undefined) actor.tell({ _tag: "CalleeTurn", text: line })
      else for (const digit of pressed) actor.tell({ _tag: "KeyPressed", digit })
    }
    actor.tell({ _tag: "CalleeHungUp" })
    return yield* Effect.never
  })
  const conclusion = yield* Effect.raceFirst(actor.conclusion, callee)
  tellWaits()
  return conclusion
})

/** What the callee waits for in a turn: in writing, that is the language model and the agent's first line. */
const makeWaits = (now: () => number) => {
  let begunAt = now()
  const tokens: Array<number> = []
  let writtenAt: number | undefined
  return {
    begin: () => {
      begunAt = now()
      tokens.length = 0
      writtenAt = undefined
    },
    over: (model: LanguageModel): LanguageModel => ({
      ...model,
      answer: (request) => firstTokenTimed(request, model.answer(request), now, (millis) => void tokens.push(Math.round(millis)))
    }),
    written: () => {
      writtenAt ??= now()
    },
    /** Once a turn. Undefined if no language model was asked. */
    told: () => {
      const asked = tokens.splice(0)
      const line = writtenAt === undefined ? "" : `, line ${Math.round(writtenAt - begunAt)} ms`
      return asked.length === 0 ? undefined : `waits: first_token ${asked.join(" + ")} ms${line}`
    }
  }
}

const describe = (fact: ConversationFact): ReadonlyArray<string> => {
  switch (fact._tag) {
    case "OptedOut":
      return ["the callee must not be called again"]
    case "CallbackAgreed":
      return [`a callback is agreed for ${fact.local}`]
    case "Remembered": {
      const { extracted_variables: variables } = fact.gathered
      return typeof variables === "object" && variables !== null && Object.keys(variables).length > 0
        ? [`variables: ${JSON.stringify(variables)}`]
        : []
    }
    case "Noted":
      return describeNote(fact.note)
  }
}

const describeNote = (note: Extract<ConversationFact, { readonly _tag: "Noted" }>["note"]): ReadonlyArray<string> => {
  switch (note._tag) {
    case "NodeEntered":
      return [`node: ${note.node.name}`]
    case "ToolStarted":
      return [`calls ${note.call.name} ${JSON.stringify(note.call.arguments)}`]
    case "ToolEnded":
      return [`${note.call.name}: ${JSON.stringify(note.result)}`]
    case "ModelTrouble":
      return [`the model is in trouble: ${note.trouble}`]
    case "ToolUnreadable":
      return [`the tool ${note.name} cannot be opened`]
    case "ExtractionFailed":
      return [`the variables of ${note.node.name} could not be extracted`]
    case "VariableRefused":
      return [`a value for ${note.name} is not of its type`]
    case "GreetingIgnored":
      return ["the contact's greeting is malformed"]
  }
}
