/** A conversation with an agent's draft in writing: nobody is called. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { ask } from "#gateway/console/base/api.ts"
import { entered, Form, TextField } from "#gateway/console/base/Form.tsx"
import { happeningOf } from "#gateway/console/base/happenings.ts"
import { Act, Panel } from "#gateway/console/base/Parts.tsx"
import type { TextChat } from "#gateway/console/base/types.ts"
import { words } from "#gateway/console/base/words.ts"

type Turn = TextChat["session_data"]["turns"][number]

const Said = ({ turn }: { readonly turn: Turn }) => (
  <>
    {turn.user_message === null ? null : (
      <li>
        <span class="speaker">Callee</span> {turn.user_message.text}
      </li>
    )}
    {turn.events.map((event) => (
      <li key={`${event.created_at} ${event.type}`} class="note">
        {happeningOf(event)}
      </li>
    ))}
    {turn.assistant_message === null ? null : (
      <li>
        <span class="speaker">Agent</span> {turn.assistant_message.text}
      </li>
    )}
  </>
)

interface ChatProps {
  readonly agent: string
  /** The node in which the conversation is. */
  readonly onEnter: (node: string | undefined) => void
}

export const Chat = ({ agent, onEnter }: ChatProps) => {
  const chat = useSignal<TextChat | undefined>(undefined)
  const end = useRef<HTMLLIElement>(null)
  const show = (next: TextChat) => {
    chat.value = next
    onEnter(next.checkpoint.current_node_id ?? undefined)
  }
  const sessions = `/workflow/${agent}/text-chat/sessions`
  const begin = async () => show(await ask<TextChat>("POST", sessions, {}))
  const say = async (fields: FormData) => {
    const { value } = chat
    const text = entered(fields, "text")
    if (value === undefined || text === undefined) return
    const said = { text, expected_revision: value.revision }
    show(await ask<TextChat>("POST", `${sessions}/${value.workflow_run_id}/messages`, said))
  }
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [chat.value])
  useEffect(() => () => onEnter(undefined), [])
  const { value } = chat
  return (
    <Panel title="Chat with the draft" more={<Act label={value === undefined ? "Begin" : "Begin again"} act={begin} />}>
      {value === undefined ? (
        <p class="none">What you write is what a callee would say.</p>
      ) : (
        <>
          <ol class="transcript chat">
            {value.session_data.turns.map((turn) => (
              <Said key={turn.id} turn={turn} />
            ))}
            <li ref={end} />
          </ol>
          {value.is_completed ? (
            <p class="note">The conversation is over.</p>
          ) : (
            <Form key={value.revision} label="Say" submit={say}>
              <TextField name="text" label="Callee" isRequired />
            </Form>
          )}
          <Found of={value.gathered_context} />
        </>
      )}
    </Panel>
  )
}

const Found = ({ of }: { readonly of: TextChat["gathered_context"] }) => {
  const { extracted_variables: variables } = of ?? {}
  if (variables === null || typeof variables !== "object" || Object.keys(variables).length === 0) return null
  return (
    <dl class="facts">
      {Object.entries(variables).map(([name, value]) => (
        <>
          <dt>{words(name)}</dt>
          <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
        </>
      ))}
    </dl>
  )
}
