/** One agent: its graph with where calls went, what its nodes do, its versions, and a chat with its draft. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { may } from "#gateway/console/base/caller.ts"
import { Confirm } from "#gateway/console/base/Dialog.tsx"
import { Act, Panel, Shown, State } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { go } from "#gateway/console/base/router.ts"
import { Tabs } from "#gateway/console/base/Tabs.tsx"
import type { Agent as Its, NodeTypes, Runs } from "#gateway/console/base/types.ts"
import { Call } from "./Call.tsx"
import { Chat } from "./Chat.tsx"
import { Graph } from "./Graph.tsx"
import { graphOf, type GraphNode, visitsOf } from "./graph.ts"
import { JsonEditor } from "./JsonEditor.tsx"
import { NodeForm } from "./NodeForm.tsx"
import { Versions } from "./Versions.tsx"

interface AgentProps {
  readonly its: Its
  /** After a change. */
  readonly renew: () => void
}

const mayChange = () => may("member", "agents")

const save = async (id: number, change: Readonly<Record<string, unknown>>, renew: () => void) => {
  await ask("PUT", `/workflow/${id}`, change)
  renew()
}

/** The definition, with other data in one node. */
const withData = ({ workflow_definition: definition }: Its, id: string, data: GraphNode["data"]): Its["workflow_definition"] => {
  const { nodes } = definition
  // Cast: a node without an id is left as it is.
  const members = Array.isArray(nodes) ? (nodes as ReadonlyArray<GraphNode>) : []
  return { ...definition, nodes: members.map((node) => (node.id === id ? { ...node, data } : node)) }
}

const calls = 100

const Design = ({ its, renew }: AgentProps) => {
  const chosen = useSignal<string | undefined>(undefined)
  const entered = useSignal<string | undefined>(undefined)
  const showsCalls = useSignal(false)
  const types = useReading<NodeTypes>("/node-types")
  const runs = useReading<Runs>(showsCalls.value ? `/workflow/${its.id}/runs?limit=${calls}` : undefined)
  const graph = graphOf(its.workflow_definition)
  const enter = (id: string | undefined) => {
    entered.value = id
  }
  const node = graph.nodes.find(({ id }) => id === chosen.value)
  const properties = types.value.value?.node_types.find(({ name }) => name === node?.type)?.properties
  const toggle = (
    <label class="check">
      <input
        type="checkbox"
        onChange={({ currentTarget }) => {
          showsCalls.value = currentTarget.checked
        }}
      />{" "}
      Where the last {calls} calls went
    </label>
  )
  return (
    <div class="beside">
      <Panel title="Graph" more={toggle}>
        <Graph
          graph={graph}
          chosen={chosen.value}
          entered={entered.value}
          visits={visitsOf(graph, runs.value.value?.runs ?? [])}
          onChoose={(id) => {
            chosen.value = chosen.value === id ? undefined : id
          }}
        />
        {node === undefined || properties === undefined ? (
          <p class="note">Choose a node to read what it says and does.</p>
        ) : (
          <NodeForm
            key={node.id}
            node={node}
            properties={properties}
            isReadOnly={!mayChange()}
            save={(data) => save(its.id, { workflow_definition: withData(its, node.id, data) }, renew)}
          />
        )}
      </Panel>
      <div>
        {may("member", "calls") ? <Call agent={String(its.id)} onEnter={enter} /> : null}
        {mayChange() ? <Chat agent={String(its.id)} onEnter={enter} /> : null}
      </div>
    </div>
  )
}

const Text = ({ its, renew }: AgentProps) => (
  <>
    <JsonEditor
      label="Graph"
      field="workflow_definition"
      value={its.workflow_definition}
      isReadOnly={!mayChange()}
      save={(value) => save(its.id, { workflow_definition: value }, renew)}
    />
    <JsonEditor
      label="Settings outside the graph"
      field="workflow_configurations"
      value={its.workflow_configurations}
      isReadOnly={!mayChange()}
      save={(value) => save(its.id, { workflow_configurations: value }, renew)}
    />
    <JsonEditor
      label="What it knows in chats and calls from the browser, in place of a contact's columns"
      field="template_context_variables"
      value={its.template_context_variables}
      isReadOnly={!mayChange()}
      save={(value) => save(its.id, { template_context_variables: value }, renew)}
    />
  </>
)

const Acts = ({ its, renew }: AgentProps) => {
  const act = (method: string, path: string, body?: unknown) => async () => {
    await ask(method, `/workflow/${its.id}${path}`, body)
    renew()
  }
  const duplicate = async () => go(`agents/${(await ask<Its>("POST", `/workflow/${its.id}/duplicate`)).id}`)
  return (
    <>
      {its.version_status === "draft" ? (
        <Act label="Publish" isMain act={act("POST", "/publish")} />
      ) : (
        <Act label="Edit as a draft" act={act("POST", "/create-draft")} />
      )}
      <Act label="Copy" act={duplicate} />
      {its.status === "archived" ? (
        <Act label="Reactivate" act={act("PUT", "/status", { status: "active" })} />
      ) : (
        <Confirm
          label="Archive"
          title={`Archive ${its.name}?`}
          yes="Archive"
          no="Leave it as it is"
          act={act("PUT", "/status", { status: "archived" })}
        >
          <p>It places no calls then, and its running campaigns are paused. It can be reactivated.</p>
        </Confirm>
      )}
    </>
  )
}

const tabs = [
  ["design", "Graph"],
  ["json", "JSON"],
  ["versions", "Versions"]
] as const

export const Agent = ({ id, tab = "design" }: { readonly id: string; readonly tab?: string | undefined }) => {
  const agent = useReading<Its>(`/workflow/fetch/${id}`)
  return (
    <Shown
      of={agent}
      show={(its) => (
        <>
          <header class="head">
            <h1>{its.name}</h1>
            <State of={`version ${its.version_number}, ${its.version_status}`} as={its.version_status === "draft" ? "waiting" : "good"} />
            {mayChange() ? <Acts its={its} renew={agent.renew} /> : null}
          </header>
          <Tabs label="Views" at={`agents/${id}`} tabs={tabs} chosen={tab} />
          {tab === "versions" ? <Versions key={its.version_number} agent={id} /> : null}
          {tab === "json" ? <Text key={its.version_number} its={its} renew={agent.renew} /> : null}
          {tab === "design" ? <Design its={its} renew={agent.renew} /> : null}
        </>
      )}
    />
  )
}
