/** A list of contacts: dropped in or written by hand, uploaded, and what the engine says about it before anything is created. */
import { type Signal, useSignal } from "@preact/signals"
import { ask, reasonOf, send } from "#gateway/console/base/api.ts"
import { Fault } from "#gateway/console/base/Parts.tsx"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { ListCheck, UploadPlace } from "#gateway/console/base/types.ts"
import { counted, words } from "#gateway/console/base/words.ts"

/** A list that the engine has. */
export interface Listed {
  readonly sourceId: string
  readonly name: string
}

const upload = async (file: Blob, name: string): Promise<Listed> => {
  const place = await ask<UploadPlace>("POST", "/s3/presigned-upload-url", {
    file_name: name,
    file_size: file.size,
    content_type: "text/csv"
  })
  await send(place.upload_url, file)
  return { sourceId: place.file_key, name }
}

/** One number on each line, as the engine reads lists. */
const byHand = (numbers: string): Blob => {
  const lines = numbers
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  return new Blob([["phone_number", ...lines, ""].join("\n")], { type: "text/csv" })
}

const firstNames = ["Ada", "Ben", "Clara", "David", "Emma"]

/** Twenty numbers that are kept for stories: nobody has them. Of their simulated phones, some are answered, some busy, some machines. */
const madeUp = (columns: ReadonlyArray<string>): Blob => {
  const rows = Array.from({ length: 20 }, (_, row) => [
    `+1202555${String(120 + row).padStart(4, "0")}`,
    ...columns.map((column) => (column.endsWith("name") ? (firstNames[row % firstNames.length] ?? "") : `sample ${words(column)}`))
  ])
  return new Blob(
    [["phone_number", ...columns], ...rows].map((cells) => `${cells.map(cell).join(",")}\n`),
    { type: "text/csv" }
  )
}

/** With whatever the agent must know of each contact. */
const uploadMadeUp = async (agent: string | undefined): Promise<Listed> => {
  const name = "made-up-numbers.csv"
  const numbers = await upload(madeUp([]), name)
  if (agent === undefined) return numbers
  const asked = { source_id: numbers.sourceId, workflow_id: Number(agent) }
  const { missing_variables: missing } = await ask<ListCheck>("POST", "/campaign/check", asked)
  return missing.length === 0 ? numbers : upload(madeUp(missing), name)
}

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`

interface ListFieldProps {
  readonly list: Signal<Listed | undefined>
  /** Who is to call. */
  readonly agent: string | undefined
  /** Nobody's phone rings. */
  readonly isSimulated: boolean
}

export const ListField = ({ agent, isSimulated, list }: ListFieldProps) => {
  const isOver = useSignal(false)
  const fault = useSignal<string | undefined>(undefined)
  const numbers = useSignal("")
  const use = async (uploaded: Promise<Listed>) => {
    fault.value = undefined
    try {
      list.value = await uploaded
    } catch (cause) {
      fault.value = reasonOf(cause)
    }
  }
  const take = (file: Blob, name: string) => use(upload(file, name))
  return (
    <fieldset class="group">
      <legend>Contacts</legend>
      <label
        class={`drop${isOver.value ? " over" : ""}`}
        onDragOver={(event) => {
          event.preventDefault()
          isOver.value = true
        }}
        onDragLeave={() => {
          isOver.value = false
        }}
        onDrop={(event) => {
          event.preventDefault()
          isOver.value = false
          const file = event.dataTransfer?.files[0]
          if (file !== undefined) void take(file, file.name)
        }}
      >
        {list.value === undefined ? "Drop a CSV or a workbook here, or choose one" : list.value.name}
        <input
          type="file"
          accept=".csv,.xlsx"
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0]
            if (file !== undefined) void take(file, file.name)
          }}
        />
      </label>
      <details>
        <summary>Write numbers by hand</summary>
        <label>
          Phone numbers, one on each line, with + and country code
          <textarea
            rows={5}
            onInput={({ currentTarget }) => {
              numbers.value = currentTarget.value
            }}
          />
        </label>
        <button type="button" disabled={numbers.value.trim() === ""} onClick={() => take(byHand(numbers.value), "numbers-by-hand.csv")}>
          Use these
        </button>
      </details>
      {isSimulated ? (
        <p class="choices">
          <button type="button" onClick={() => use(uploadMadeUp(agent))}>
            Use 20 made-up numbers
          </button>
        </p>
      ) : null}
      {fault.value === undefined ? null : <Fault>{fault.value}</Fault>}
    </fieldset>
  )
}

type Faulty = ListCheck["refused"]["first"][number]

const faultColumns: ReadonlyArray<Column<Faulty>> = [
  { name: "Line", isNumber: true, show: ({ row_number: row }) => row },
  { name: "Column", show: ({ column }) => column },
  { name: "Reason", show: ({ reason }) => reason }
]

const faultsAsCsv = (faults: ReadonlyArray<Faulty>): string => {
  const lines = faults.map(({ column, reason, row_number: row }) => [String(row), cell(column ?? ""), cell(reason)].join(","))
  return `data:text/csv;charset=utf-8,${encodeURIComponent(["line,column,reason", ...lines, ""].join("\r\n"))}`
}

type Checked = ListCheck["contacts"][number]
const contactColumns: ReadonlyArray<Column<Checked>> = [
  { name: "Line", isNumber: true, show: ({ row_number: row }) => row },
  { name: "Number", show: ({ phone_number: number }) => number },
  {
    name: "What the agent knows",
    show: ({ initial_context: known }) =>
      Object.entries(known)
        .map(([name, value]) => `${name}: ${String(value)}`)
        .join(", ")
  }
]

const Refused = ({ refused: { first, total } }: Pick<ListCheck, "refused">) => (
  <>
    <p class="bad">
      {counted(total, "row")} with a fault. Correct them and choose the file again.{" "}
      <a href={faultsAsCsv(first)} download="refused-rows.csv">
        Download {first.length < total ? "the first of them" : "them"}
      </a>
    </p>
    <Table
      label="Rows with a fault"
      columns={faultColumns}
      rows={first}
      keyOf={({ column, reason, row_number: row }) => `${row} ${column} ${reason}`}
      empty="None."
    />
  </>
)

/** What would come of the list. */
export const CheckedList = ({ check }: { readonly check: ListCheck }) => {
  const { accepted, contacts, duplicates, missing_variables: missing, refusal, refused, rows_in_file: rows, skipped } = check
  return (
    <>
      <p class={check.is_accepted ? "good" : "bad"}>
        {check.is_accepted
          ? `${counted(accepted, "contact")} of ${counted(rows, "row")} can be called.`
          : `${(refusal ?? "The list is refused").replace(/\.$/, "")}.`}
        {skipped === 0 ? "" : ` ${counted(skipped, "row")} without a number ${skipped === 1 ? "is" : "are"} left out.`}
        {duplicates.total === 0 ? "" : ` ${counted(duplicates.total, "number is", "numbers are")} there more than once.`}
      </p>
      {missing.length === 0 ? null : <p class="bad">The agent needs columns that the list has not: {missing.join(", ")}.</p>}
      {check.unused_columns.length === 0 ? null : (
        <p class="note">Columns that the agent does not use: {check.unused_columns.join(", ")}.</p>
      )}
      {check.warnings.map((warning) => (
        <p key={warning} class="note">
          {warning}
        </p>
      ))}
      {refused.total === 0 ? null : <Refused refused={refused} />}
      {duplicates.first.length === 0 ? null : (
        <details>
          <summary>Numbers that are there more than once</summary>
          <ul>
            {duplicates.first.map(({ phone_number: number, row_numbers: lines }) => (
              <li key={number}>
                {number}: lines {lines.join(", ")}
              </li>
            ))}
          </ul>
        </details>
      )}
      <Table label="The first contacts" columns={contactColumns} rows={contacts} keyOf={({ row_number: row }) => row} empty="No contact." />
    </>
  )
}
