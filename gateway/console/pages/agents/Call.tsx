/** A spoken call to an agent's draft by the computer's own microphone: no telephone is called. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { happeningOf } from "#gateway/console/base/happenings.ts"
import { Act, Bar, Panel } from "#gateway/console/base/Parts.tsx"
import { words } from "#gateway/console/base/words.ts"
import { type Line, openLine } from "./openLine.ts"

interface CallProps {
  readonly agent: string
  /** The node in which the conversation is. */
  readonly onEnter: (node: string | undefined) => void
}

interface Said {
  readonly at: number
  readonly speaker: "Agent" | "Callee" | undefined
  readonly text: string
}

interface Standing {
  readonly state: "idle" | "connecting" | "talking" | "over"
  readonly reason: string
  readonly said: ReadonlyArray<Said>
  /** The newest turn's, in seconds by stage. */
  readonly waits: ReadonlyArray<readonly [stage: string, seconds: number]>
}
const idle: Standing = { state: "idle", reason: "", said: [], waits: [] }

type Payload = Readonly<Record<string, unknown>>
const speakers: Readonly<Record<string, Said["speaker"]>> = { "rtf-user-transcription": "Callee", "rtf-bot-text": "Agent" }

/** What the engine has told, beside what is known. */
const after = (standing: Standing, type: string, payload: Payload): Standing => {
  const { said, waits } = standing
  const speaker = speakers[type]
  const line = (text: unknown, by?: Said["speaker"]) => ({
    ...standing,
    said: [...said, { at: said.length, speaker: by, text: String(text) }]
  })
  if (speaker !== undefined) {
    const next = line(payload["text"], speaker)
    return speaker === "Callee" ? { ...next, waits: [] } : next
  }
  const happening = happeningOf({ payload, type })
  if (happening !== undefined) return line(happening)
  const seconds = payload["latency_seconds"] ?? payload["ttfb_seconds"]
  const stage = type === "rtf-latency-measured" ? "in all" : payload["stage"]
  return typeof seconds === "number" && typeof stage === "string" ? { ...standing, waits: [...waits, [words(stage), seconds]] } : standing
}

const Waits = ({ waits }: Pick<Standing, "waits">) =>
  waits.length === 0 ? null : (
    <dl class="facts">
      {waits.map(([stage, seconds], at) => (
        <>
          <dt key={`${at}`}>{stage}</dt>
          <dd>
            <Bar label={`${Math.round(1000 * seconds)} ms`} share={seconds / Math.max(...waits.map(([, most]) => most))} />{" "}
            {`${Math.round(1000 * seconds)}\u00a0ms`}
          </dd>
        </>
      ))}
    </dl>
  )

export const Call = ({ agent, onEnter }: CallProps) => {
  const standing = useSignal(idle)
  const line = useRef<Line>(undefined)
  const voice = useRef<HTMLAudioElement>(null)
  const set = (change: Partial<Standing>) => {
    standing.value = { ...standing.peek(), ...change }
  }
  const call = async () => {
    standing.value = { ...idle, state: "connecting" }
    try {
      line.current = await openLine(agent, {
        onVoice: (stream) => {
          if (voice.current !== null) voice.current.srcObject = stream
        },
        onConnected: () => set({ state: "talking" }),
        onFeedback: (type, payload) => {
          standing.value = after(standing.peek(), type, payload)
          if (type === "rtf-node-transition") onEnter(String(payload["node_id"]))
        },
        onEnd: (reason) => {
          set({ state: "over", reason })
          onEnter(undefined)
        }
      })
    } catch (cause) {
      set({ state: "idle" })
      throw cause
    }
  }
  useEffect(() => () => line.current?.hangUp(), [])
  const { reason, said, state, waits } = standing.value
  const isUp = state === "connecting" || state === "talking"
  const button = isUp ? (
    <Act key="hang up" label="Hang up" act={async () => line.current?.hangUp()} />
  ) : (
    <Act key="call" label={state === "over" ? "Call again" : "Call"} act={call} />
  )
  return (
    <Panel title="Call to the draft" more={button}>
      {/* The agent's voice is in the transcript below. */}
      <audio ref={voice} autoplay />
      <p class="note" role="status">
        {state === "idle" ? "By this computer's microphone. No telephone rings." : state === "over" ? reason : words(state)}
      </p>
      <ol class="transcript chat">
        {said.map(({ at, speaker, text }) => (
          <li key={at} class={speaker === undefined ? "note" : ""}>
            {speaker === undefined ? null : <span class="speaker">{speaker}</span>} {text}
          </li>
        ))}
      </ol>
      <Waits waits={waits} />
      {state === "over" && line.current !== undefined ? (
        <a href={`#/runs/${agent}/${line.current.run.id}`}>The record of the call</a>
      ) : null}
    </Panel>
  )
}
