/** Testing a configuration: everything that calls need, and on request a call. */
import { useSignal } from "@preact/signals"
import { ask } from "#gateway/console/base/api.ts"
import { ChoiceField, entered, enteredNumber, Form, TextField } from "#gateway/console/base/Form.tsx"
import { useOnce } from "#gateway/console/base/once.ts"
import { Act, Panel, Shown, State, When } from "#gateway/console/base/Parts.tsx"
import { useReading } from "#gateway/console/base/reading.ts"
import { type Column, Table } from "#gateway/console/base/Table.tsx"
import type { Standing } from "#gateway/console/base/words.ts"
import { words } from "#gateway/console/base/words.ts"
import type { Tested, TestResult } from "./types.ts"

type Check = TestResult["checks"][number]
const standings: Readonly<Record<Check["result"], Standing>> = { passed: "good", warning: "waiting", failed: "bad" }

const columns: ReadonlyArray<Column<Check>> = [
  { name: "Check", show: ({ name }) => words(name) },
  { name: "Result", show: ({ result }) => <State as={standings[result]} of={result} /> },
  {
    name: "What was found",
    show: ({ advice, message }) => (
      <>
        {message}
        {advice === null ? null : <span class="figures">{advice}</span>}
      </>
    )
  }
]

const Result = ({ of: { checks, passed, tested_at: at } }: { readonly of: TestResult }) => (
  <>
    <p>
      <State as={passed ? "good" : "bad"} of={passed ? "passed" : "failed"} /> <When at={at} />
    </p>
    <Table
      label="Checks"
      columns={columns}
      rows={checks}
      keyOf={({ message, name }) => `${name} ${message}`}
      empty="Nothing was checked."
    />
  </>
)

const Called = ({ agent, call }: { readonly agent: number | undefined; readonly call: NonNullable<Tested["call"]> }) =>
  call.status === "initiated" && call.workflow_run_id !== null && agent !== undefined ? (
    <p>
      The call has been placed: <a href={`#/runs/${agent}/${call.workflow_run_id}`}>open it</a>.
    </p>
  ) : (
    <p role="alert">No call was placed: {call.reason}</p>
  )

type AgentNames = ReadonlyArray<{ readonly id: number; readonly name: string }>

interface CallProps {
  readonly path: string
  readonly tested: (result: Tested) => void
}

const TestCall = ({ path, tested }: CallProps) => {
  const agents = useReading<AgentNames>("/workflow/summary?status=active")
  const result = useSignal<{ readonly agent: number | undefined; readonly call: Tested["call"] } | undefined>(undefined)
  const once = useOnce()
  const place = async (form: FormData) => {
    result.value = undefined
    const agent = enteredNumber(form, "call.workflow_id")
    const call = { phone_number: entered(form, "call.phone_number"), workflow_id: agent }
    const answer = await once.post<Tested>(path, { call })
    result.value = { agent, call: answer.call }
    tested(answer)
  }
  return (
    <details>
      <summary>Test with a call</summary>
      <Shown
        of={agents}
        show={(names) =>
          names.length === 0 ? (
            <p class="none">A call needs an agent, and there is none yet.</p>
          ) : (
            <Form label="Test and call" submit={place}>
              <TextField
                name="call.phone_number"
                label="Number to call"
                isRequired
                placeholder="+14155550100"
                hint="An ordinary call, within all limits: the phone rings"
              />
              <ChoiceField name="call.workflow_id" label="Agent that calls" choices={names.map(({ id, name }) => [String(id), name])} />
            </Form>
          )
        }
      />
      {result.value === undefined || result.value.call === null ? null : <Called agent={result.value.agent} call={result.value.call} />}
    </details>
  )
}

interface TestProps {
  readonly id: string
  /** That the engine remembers. */
  readonly last: TestResult | null
  readonly isAllowed: boolean
  readonly tested: () => void
}

export const Test = ({ id, isAllowed, last, tested }: TestProps) => {
  const latest = useSignal<TestResult | undefined>(undefined)
  const path = `/organizations/telephony-configs/${id}/test`
  const found = (result: TestResult) => {
    latest.value = result
    tested()
  }
  const shown = latest.value ?? last
  return (
    <Panel title="Test" more={isAllowed ? <Act label="Test" act={async () => found(await ask<Tested>("POST", path, {}))} /> : null}>
      {shown === null ? <p class="none">Not tested since the engine started.</p> : <Result of={shown} />}
      {isAllowed ? <TestCall path={path} tested={found} /> : null}
    </Panel>
  )
}
