/** What a webhook endpoint receives, and where. */
import { ChoicesField, chosen, entered, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Copied } from "#gateway/console/base/Parts.tsx"
import type { Happened } from "#gateway/console/base/types.ts"
import type { Endpoint } from "./types.ts"

const events: Readonly<Record<Exclude<Happened["type"], "webhook.test" | "events.gap">, string>> = {
  "campaign.created": "a campaign is created",
  "campaign.started": "a campaign is started",
  "campaign.paused": "a campaign is paused",
  "campaign.resumed": "a campaign is resumed",
  "campaign.completed": "a campaign is completed",
  "campaign.failed": "a campaign has failed",
  "campaign.redialed": "a campaign is redialed",
  "run.answered": "a call is answered",
  "run.completed": "a call is over",
  "contact.opted_out": "somebody does not want to be called any more",
  "contact.callback_agreed": "a time for another call is agreed on",
  "storage.full": "calls are no longer recorded, because storage is full"
}

interface EndpointFormProps {
  readonly endpoint?: Endpoint
  readonly label: string
  readonly done?: string
  readonly isForMany?: boolean
  readonly submit: (body: object) => Promise<unknown>
}

export const EndpointForm = ({ endpoint, submit, ...rest }: EndpointFormProps) => {
  const send = (form: FormData) =>
    submit({
      url: entered(form, "url"),
      description: entered(form, "description") ?? "",
      event_types: chosen(form, "event_types")
    })
  return (
    <Form {...rest} submit={send}>
      <TextField
        name="url"
        label="URL"
        type="url"
        isRequired
        placeholder="https://example.com/hooks"
        hint="At a public address, unless the operator allows others"
        value={endpoint?.url}
      />
      <TextField name="description" label="Description (optional)" value={endpoint?.description} />
      <ChoicesField
        name="event_types"
        label="Events"
        hint="None chosen: all of them"
        choices={Object.entries(events).map(([type, words]) => [type, `${type}: ${words}`])}
        values={endpoint?.event_types ?? []}
      />
    </Form>
  )
}

export const Secret = ({ of: { secret } }: { readonly of: { readonly secret: string } }) => (
  <p>
    What is sent is signed with this secret. It is shown only now: <Copied text={secret} />
  </p>
)

export const eventsOf = ({ event_types: types }: Endpoint): string => (types.length === 0 ? "all" : types.join(", "))
