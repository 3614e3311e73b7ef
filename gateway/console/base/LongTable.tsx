/** A table of any length: only the rows that are in sight are drawn, and more are asked for when its end comes near. */
import { useSignal } from "@preact/signals"
import type { Column } from "./Table.tsx"

/** CSS pixels, as in the style sheet. */
const ROW_HEIGHT = 30
/** Drawn above and below what is in sight. */
const MARGIN_ROWS = 20

interface LongTableProps<Row> {
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string | number
  /** After scrolling: the rows that are in sight, from the first to before the last. */
  readonly onSight: (from: number, until: number) => void
}

/** Takes the place of rows that are not drawn. */
const Space = ({ columns, rows }: { readonly columns: number; readonly rows: number }) =>
  rows === 0 ? null : (
    <tr>
      <td class="space" colSpan={columns} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  )

export function LongTable<Row>({ columns, keyOf, label, onSight, rows }: LongTableProps<Row>) {
  const sight = useSignal({ first: 0, count: 40 })
  const scroll = ({ clientHeight, scrollTop }: HTMLElement) => {
    const first = Math.floor(scrollTop / ROW_HEIGHT)
    const count = Math.ceil(clientHeight / ROW_HEIGHT)
    if (first === sight.peek().first && count === sight.peek().count) return
    sight.value = { first, count }
    onSight(first, first + count)
  }
  const { count, first } = sight.value
  const from = Math.max(0, Math.min(first, rows.length) - MARGIN_ROWS)
  const until = Math.min(rows.length, first + count + MARGIN_ROWS)
  return (
    <section class="scrolls long" aria-label={label} tabIndex={0} onScroll={({ currentTarget }) => scroll(currentTarget)}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ isNumber, name }) => (
              <th key={name} scope="col" class={isNumber === true ? "number" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space columns={columns.length} rows={from} />
          {rows.slice(from, until).map((row, at) => (
            <tr key={keyOf(row)} aria-rowindex={from + at + 2}>
              {columns.map(({ isNumber, name, show }) => (
                <td key={name} class={isNumber === true ? "number" : ""}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
          <Space columns={columns.length} rows={rows.length - until} />
        </tbody>
      </table>
    </section>
  )
}
