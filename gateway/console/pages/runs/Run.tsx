/** One call: what was said, what came of it, and how long each stage took. */
import { Panel, Shown } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import type { Run as Its } from "#gateway/console/base/types.ts"
import { moment, words } from "#gateway/console/base/words.ts"
import { spokenIn } from "./spoken.ts"

const Transcript = ({ run }: { readonly run: Its }) => {
  const lines = spokenIn(run)
  if (lines.length === 0) return <p class="none">Nothing was said, or nothing of it is kept.</p>
  return (
    <ol class="transcript">
      {lines.map(({ at, speaker, text }) => (
        <li key={`${at} ${speaker}`}>
          <span class="speaker" title={moment(at)}>
            {speaker}
          </span>{" "}
          {text}
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
          {its.recording_public_url === null ? null : <audio controls preload="none" src={its.recording_public_url} />}
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
