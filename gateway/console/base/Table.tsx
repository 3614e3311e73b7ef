/** A table that scrolls sideways in a narrow window, and by the keyboard. */
import type { ComponentChildren } from "preact"

export interface Column<Row> {
  /** Empty: a column of buttons and links. */
  readonly name: string
  readonly isNumber?: boolean
  readonly show: (row: Row) => ComponentChildren
}

interface TableProps<Row> {
  /** What it lists, for those who do not see it. */
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string | number
  /** In place of a table without rows. */
  readonly empty: ComponentChildren
}

export function Table<Row>({ columns, empty, keyOf, label, rows }: TableProps<Row>) {
  if (rows.length === 0) return <p class="none">{empty}</p>
  return (
    <section class="scrolls" aria-label={label} tabIndex={0}>
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ isNumber, name }) =>
              name === "" ? (
                <td key={name} />
              ) : (
                <th key={name} scope="col" class={isNumber === true ? "number" : ""}>
                  {name}
                </th>
              )
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ isNumber, name, show }) => (
                <td key={name} class={isNumber === true ? "number" : ""}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
