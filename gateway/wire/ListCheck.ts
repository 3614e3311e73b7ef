/** `/campaign/check`: the list to check, and what would come of it. */
import Type, { type Static } from "typebox"
import type { ListToCheck } from "#core/campaign/Creation.ts"
import { storedContext } from "#core/contact/ContactStore.ts"
import type { ListCheck } from "#core/contact/ListCheck.ts"
import type { AgentId, TelephonyConfigId } from "#core/Id.ts"
import { id, nullable, object, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

export const CheckList = Type.Object(
  {
    source_id: Type.String({ description: "The `file_key` of an uploaded CSV." }),
    workflow_id: optional(id<AgentId>("The agent that would call: the list must have the variables that it uses.")),
    telephony_configuration_id: optional(
      id<TelephonyConfigId>("Its extensions may be in the list. If left out, the organization's default is used.")
    )
  },
  { title: "CheckList" }
)

export const listToCheckOf = (body: Static<typeof CheckList>): ListToCheck => ({
  sourceId: body.source_id,
  agentId: orUndefined(body.workflow_id),
  telephonyConfigurationId: orUndefined(body.telephony_configuration_id)
})

const row = Type.Integer({ description: "The line of the list; the header is line 1, and blank lines are not counted." })

const RepeatedNumberWire = Type.Object(
  { phone_number: Type.String(), row_numbers: Type.Array(row, { description: "The first hundred." }) },
  { title: "RepeatedNumber" }
)
const RefusedRowWire = Type.Object(
  {
    row_number: row,
    column: nullable(Type.String({ description: "Its header as written; null if the fault is not in a column that has one." })),
    reason: Type.String()
  },
  { title: "RefusedRow" }
)
const CheckedContactWire = Type.Object(
  { row_number: row, phone_number: Type.String(), initial_context: object("What the call would know of the contact.") },
  { title: "CheckedContact" }
)

export const ListCheckWire = Type.Object(
  {
    is_accepted: Type.Boolean({ description: "Whether a campaign can be created from the list." }),
    refusal: nullable(Type.String({ description: "Why none can, as `POST /campaign/create` would say." })),
    rows_in_file: Type.Integer({ description: "As far as the file could be read." }),
    accepted: Type.Integer({ description: "Rows without a fault. Unless these and the skipped ones are all, no campaign can be created." }),
    skipped: Type.Integer({ description: "Rows without a phone number." }),
    refused: Type.Object(
      {
        total: Type.Integer({ description: "How many rows have a fault." }),
        first: Type.Array(RefusedRowWire, { description: "The first hundred faults, of which a row can have several." })
      },
      { title: "RefusedRows" }
    ),
    duplicates: Type.Object(
      {
        total: Type.Integer({ description: "How many numbers are in several rows. All rows but the first of each are refused." }),
        first: Type.Array(RepeatedNumberWire, { description: "The first hundred." })
      },
      { title: "RepeatedNumbers" }
    ),
    warnings: Type.Array(Type.String(), { description: "As in `source_sync` of a campaign." }),
    columns: Type.Array(Type.String(), { description: "The header as written." }),
    missing_variables: Type.Array(Type.String(), {
      description: "Variables that the agent needs for each contact, and that no column has. Empty without `workflow_id`."
    }),
    unused_columns: Type.Array(Type.String(), {
      description: "Columns that no node and no edge of the agent uses. Empty without `workflow_id`."
    }),
    contacts: Type.Array(CheckedContactWire, { description: "The first five, as they would be dialed." })
  },
  { title: "ListCheck" }
)

export const listCheckWire = (check: ListCheck): Static<typeof ListCheckWire> => ({
  is_accepted: check.refusal === undefined,
  refusal: orNull(check.refusal),
  rows_in_file: check.rowsInFile,
  accepted: check.accepted,
  skipped: check.skipped,
  refused: {
    total: check.refused.rows,
    first: check.refused.faults.map(({ column, reason, rowNumber }) => ({ row_number: rowNumber, column: orNull(column), reason }))
  },
  duplicates: {
    total: check.repeated.numbers,
    first: check.repeated.first.map(({ phoneNumber, rows }) => ({ phone_number: phoneNumber, row_numbers: [...rows] }))
  },
  warnings: [...check.warnings],
  columns: [...check.columns],
  missing_variables: [...check.missingVariables],
  unused_columns: [...check.unusedColumns],
  contacts: check.contacts.map((contact) => ({
    row_number: contact.rowNumber,
    phone_number: contact.phoneNumber,
    initial_context: storedContext(contact)
  }))
})
