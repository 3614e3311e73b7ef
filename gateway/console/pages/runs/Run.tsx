/** One call: heard and read, what came of it, and how long each stage took. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { Bar, Panel, Shown } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Run as Its } from "#gateway/console/base/types.ts"
import { figure, lasting, moment, moments, words } from "#gateway/console/base/words.ts"
import { Sound } from "./Sound.tsx"
import { endOf, latenciesIn, type Line, linesIn, type TurnLatency } from "./spoken.ts"

interface TranscriptProps {
  readonly lines: ReadonlyArray<Line>
  /** What is heard at the moment, in epoch milliseconds. */
  readonly heard: number | undefined
  /** Undefined: nothing can be heard. */
  readonly onGo: ((at: number) => void) | undefined
}

const Transcript = ({ heard, lines, onGo }: TranscriptProps) =>
  lines.length === 0 ? (
    <p class="none">Nothing was said, or nothing of it is kept.</p>
  ) : (
    <ol class="transcript">
      {lines.map(({ at, speaker, text, until }) => {
        const isHeard = heard !== undefined && speaker !== undefined && at <= heard && heard <= until
        const time = moment(new Date(at).toISOString()).split(", ").at(-1)
        return (
          <li key={`${at} ${text}`} class={speaker === undefined ? "note" : ""} aria-current={isHeard ? "true" : undefined}>
            {onGo === undefined || speaker === undefined ? (
              <span class="time">{time}</span>
            ) : (
              <button type="button" class="link time" title="Hear it" onClick={() => onGo(at)}>
                {time}
              </button>
            )}{" "}
            {speaker === undefined ? null : <span class="speaker">{speaker}</span>} {text}
          </li>
        )
      })}
    </ol>
  )

const Call = ({ agent, run }: { readonly agent: string; readonly run: Its }) => {
  const position = useSignal(0)
  const length = useSignal<number | undefined>(undefined)
  const isHeard = useSignal(false)
  const [lines, end] = [linesIn(run), endOf(run)]
  // The recording ends with the call.
  const begin = length.value === undefined || end === undefined ? undefined : end - length.value * 1000
  const files = `/api/v1/workflow/${agent}/runs/${run.id}`
  const hear = (
    <button
      type="button"
      onClick={() => {
        isHeard.value = true
      }}
    >
      Hear it
    </button>
  )
  return (
    <Panel title="Conversation" more={run.recording_url === null || isHeard.value ? null : hear}>
      {isHeard.value ? (
        <Sound
          address={`${files}/recording`}
          position={position}
          onLength={(seconds) => {
            length.value = seconds
          }}
        />
      ) : null}
      <Transcript
        lines={lines}
        heard={begin === undefined ? undefined : begin + position.value * 1000}
        onGo={
          begin === undefined
            ? undefined
            : (at) => {
                position.value = Math.max(0, (at - begin) / 1000)
              }
        }
      />
      <p class="choices">
        {run.recording_url === null ? null : (
          <a href={`${files}/recording`} download>
            Download the recording
          </a>
        )}
        {run.transcript_url === null ? null : (
          <a href={`${files}/transcript`} download>
            Download the transcript
          </a>
        )}
      </p>
    </Panel>
  )
}

const shownAs = (value: unknown): string => {
  if (typeof value === "string") return value
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value.join(", ") : JSON.stringify(value)
}

const Facts = ({ of }: { readonly of: Its["gathered_context"] }) =>
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

const Latencies = ({ turns }: { readonly turns: ReadonlyArray<TurnLatency> }) => {
  const longest = Math.max(...turns.flatMap(({ stages }) => stages.map(({ seconds }) => seconds)))
  const rows = turns.flatMap(({ stages, turn }) => stages.map((stage, at) => ({ ...stage, turn, at })))
  const columns: ReadonlyArray<Column<(typeof rows)[number]>> = [
    { name: "Turn", isNumber: true, show: ({ turn }) => turn },
    { name: "Stage", show: ({ name }) => (name === "first_audio" ? "in all, until the agent was heard" : words(name)) },
    { name: "Milliseconds", isNumber: true, show: ({ seconds }) => figure(Math.round(1000 * seconds)) },
    { name: "Compared", show: ({ seconds }) => <Bar label={`${Math.round(1000 * seconds)} ms`} share={seconds / longest} /> }
  ]
  return (
    <Panel title="How long each stage took">
      <Table label="Stages" columns={columns} rows={rows} keyOf={({ at, name, turn }) => `${turn} ${name} ${at}`} empty="Not measured." />
    </Panel>
  )
}

const Head = ({ remove, run }: { readonly run: Its; readonly remove: () => Promise<unknown> }) => {
  const { campaign_id: campaign } = run.initial_context ?? {}
  const seconds = run.usage_info?.call_duration_seconds ?? undefined
  return (
    <header class="head">
      <h1>{run.name}</h1>
      <span title={moments(run.created_at)}>{moment(run.created_at)}</span>
      {seconds === undefined ? null : <span>{lasting(seconds)}</span>}
      {typeof campaign === "number" ? <a href={`#/campaigns/${campaign}`}>Campaign</a> : null}
      <a href={`#/agents/${run.workflow_id}`}>Agent</a>
      {may("admin", "admin") && (run.recording_url !== null || run.transcript_url !== null) ? (
        <Confirm label="Delete recording and transcript" title="Delete what was said?" yes="Delete for good" no="Keep it" act={remove}>
          <p>The recording, the transcript and all quotations go. That the call took place, and what came of it, stays.</p>
        </Confirm>
      ) : null}
    </header>
  )
}

export const Run = ({ agent, id }: { readonly agent: string; readonly id: string }) => {
  const path = `/workflow/${agent}/runs/${id}`
  const run = useReading<Its>(path, ({ subject }) => subject === `runs/${id}`)
  const remove = async () => {
    await ask("DELETE", `${path}/artifacts`)
    run.renew()
  }
  return (
    <Shown
      of={run}
      show={(its) => (
        <>
          <Head run={its} remove={remove} />
          <Call agent={agent} run={its} />
          <Panel title="What came of it">
            <Facts of={its.gathered_context} />
          </Panel>
          {latenciesIn(its).length === 0 ? null : <Latencies turns={latenciesIn(its)} />}
          <Panel title="What the agent knew">
            <Facts of={its.initial_context} />
          </Panel>
        </>
      )}
    />
  )
}
