/** The versions of an agent, two of them side by side. */
import { useSignal } from "@preact/signals"
import { diffLines } from "diff"
import { Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { type Reading, useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { AgentVersion } from "#gateway/console/base/types.ts"

const textOf = (version: AgentVersion): string =>
  JSON.stringify({ graph: version.workflow_json, configurations: version.workflow_configurations }, null, 2)

const signs = { added: "+", removed: "-", same: " " } as const

const Difference = ({ from, to }: { readonly from: AgentVersion; readonly to: AgentVersion }) => {
  const parts = diffLines(textOf(from), textOf(to))
  return (
    <section class="scrolls" aria-label={`Version ${from.version_number} and version ${to.version_number}`} tabIndex={0}>
      <pre class="code">
        {parts.map(({ added, removed, value }, at) => {
          const kind = added ? "added" : removed ? "removed" : "same"
          const lines = value.replace(/\n$/, "").split("\n")
          const shown = kind === "same" && lines.length > 8 ? [...lines.slice(0, 3), "…", ...lines.slice(-3)] : lines
          return (
            // Parts have no name but their place.
            <span key={`${at}`} class={kind}>
              {shown.map((line) => `${signs[kind]} ${line}\n`).join("")}
            </span>
          )
        })}
      </pre>
    </section>
  )
}

const columns: ReadonlyArray<Column<AgentVersion>> = [
  { name: "Version", isNumber: true, show: ({ version_number: number }) => number },
  {
    name: "State",
    show: ({ status }) => <State of={status} as={status === "published" ? "good" : status === "draft" ? "waiting" : "over"} />
  },
  { name: "Created", show: ({ created_at: at }) => <When at={at} /> },
  { name: "Published", show: ({ published_at: at }) => <When at={at} /> }
]

const Compared = ({ versions }: { readonly versions: ReadonlyArray<AgentVersion> }) => {
  const [newest, before] = versions
  const chosen = useSignal({ from: (before ?? newest)?.id, to: newest?.id })
  const find = (id: number | undefined) => versions.find((version) => version.id === id)
  const [from, to] = [find(chosen.value.from), find(chosen.value.to)]
  const choice = (end: "from" | "to", label: string) => (
    <label>
      {label}{" "}
      <select
        onChange={({ currentTarget }) => {
          chosen.value = { ...chosen.value, [end]: Number(currentTarget.value) }
        }}
      >
        {versions.map(({ id, version_number: number }) => (
          <option key={id} value={id} selected={id === chosen.value[end]}>
            Version {number}
          </option>
        ))}
      </select>
    </label>
  )
  return (
    <>
      <p class="choices">
        {choice("from", "What changed from")} {choice("to", "to")}
      </p>
      {from === undefined || to === undefined || from === to ? null : <Difference from={from} to={to} />}
    </>
  )
}

/** `agent`: is read again when it is saved. */
export const Versions = ({ agent }: { readonly agent: string }) => {
  const versions: Reading<ReadonlyArray<AgentVersion>> = useReading(`/workflow/${agent}/versions`)
  return (
    <Shown
      of={versions}
      show={(versions) => (
        <>
          <Table label="Versions" columns={columns} rows={versions} keyOf={({ id }) => id} empty="None." />
          {versions.length < 2 ? null : <Compared versions={versions} />}
        </>
      )}
    />
  )
}
