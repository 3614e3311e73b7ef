/** One call: what was said, what came of it, and how long each stage took. */
import { Panel, Shown } from "../parts/Parts.tsx"
import { useReading } from "../reading.ts"
import type { Run as Its } from "../types.ts"
import { moment, words } from "../words.ts"

interface Said {
  readonly type: string
  readonly timestamp: string
  readonly payload: Readonly<Record<string, unknown>>
}

const speakers: Readonly<Record<string, string>> = { "rtf-user-transcription": "Callee", "rtf-bot-text": "Agent" }

const eventsOf = ({ logs }: Its): ReadonlyArray<Said> => {
  const { realtime_feedback_events: events } = logs ?? {}
  // As `ConversationReport` writes them.
  return Array.isArray(events) ? (events as ReadonlyArray<Said>) : []
}

const Transcript = ({ run }: { readonly run: Its }) => {
  const lines = eventsOf(run).filter(({ payload: { text }, type }) => type in speakers && typeof text === "string")
  if (lines.length === 0) return <p class="none">Nothing was said, or nothing of it is kept.</p>
  return (
    <ol class="transcript">
      {lines.map(({ payload: { text }, timestamp, type }) => (
        <li key={`${timestamp} ${type}`} class={type === "rtf-bot-text" ? "agent" : "callee"}>
          <span class="speaker" title={moment(timestamp)}>
            {speakers[type]}
          </span>{" "}
          {String(text)}
        </li>
      ))}
    </ol>
  )
}

const shownAs = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const Found = ({ of }: { readonly of: Its["gathered_context"] }) =>
  of === null || Object.keys(of).length === 0 ? (
    <p class="none">Nothing.</p>
  ) : (
    <dl class="facts">
      {Object.entries(of).map(([name, value]) => (
        <>
          <dt>{words(name)}</dt>
          <dd>{shownAs(value)}</dd>
        </>
      ))}
    </dl>
  )

export const Run = ({ agent, id }: { readonly agent: string; readonly id: string }) => {
  const run = useReading<Its>(`/workflow/${agent}/runs/${id}`, ({ subject }) => subject === `runs/${id}`)
  return (
    <Shown
      of={run}
      show={(its) => (
        <>
          <header class="head">
            <h1>{its.name}</h1>
            <span>{moment(its.created_at)}</span>
          </header>
          {its.recording_public_url === null ? null : (
            // biome-ignore lint/a11y/useMediaCaption: the transcript stands below.
            <audio controls preload="none" src={its.recording_public_url} />
          )}
          <Panel title="Conversation">
            <Transcript run={its} />
          </Panel>
          <Panel title="What came of it">
            <Found of={its.gathered_context} />
          </Panel>
        </>
      )}
    />
  )
}
