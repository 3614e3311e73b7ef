/** All agents, and new ones from a template. */
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { useSignal } from "@preact/signals"
import { ChoiceField, entered, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { go } from "#gateway/console/base/router.ts"
import { Search } from "#gateway/console/base/Search.tsx"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Agent, AgentItem, AgentTemplate } from "#gateway/console/base/types.ts"
import { figure } from "#gateway/console/base/words.ts"

const columns: ReadonlyArray<Column<AgentItem>> = [
  { name: "Name", show: ({ id, name }) => <a href={`#/agents/${id}`}>{name}</a> },
  { name: "State", show: ({ status }) => <State of={status} /> },
  { name: "Calls", isNumber: true, show: ({ total_runs: runs }) => figure(runs) },
  { name: "Created", show: ({ created_at: at }) => <When at={at} /> }
]

const New = () => {
  const templates = useReading<ReadonlyArray<AgentTemplate>>("/workflow/templates")
  const create = async (fields: FormData) => {
    const made = { template_id: Number(fields.get("template_id")), workflow_name: entered(fields, "workflow_name") }
    const { id } = await ask<Agent>("POST", "/workflow/templates/duplicate", made)
    go(`agents/${id}`)
  }
  return (
    <Panel title="New agent">
      <Shown
        of={templates}
        show={(templates) => (
          <Form label="Create" submit={create}>
            <TextField name="workflow_name" label="Name" isRequired />
            <ChoiceField
              name="template_id"
              label="Begins as a copy of"
              choices={templates.map(({ id, template_name: name }) => [String(id), name])}
            />
          </Form>
        )}
      />
    </Panel>
  )
}

export const Agents = () => {
  const agents = useReading<ReadonlyArray<AgentItem>>("/workflow/fetch")
  const wanted = useSignal("")
  const isWanted = ({ name }: AgentItem) => name.toLowerCase().includes(wanted.value.toLowerCase())
  return (
    <>
      <header class="head">
        <h1>Agents</h1>
        <Search
          label="Search by name"
          onSearch={(text) => {
            wanted.value = text
          }}
        />
      </header>
      <Shown
        of={agents}
        show={(agents) => (
          <Table
            label="Agents"
            columns={columns}
            rows={agents.filter(isWanted)}
            keyOf={({ id }) => id}
            empty={agents.length === 0 ? "There are no agents yet." : "No agent has this in its name."}
          />
        )}
      />
      {may("member", "agents") ? <New /> : null}
    </>
  )
}
