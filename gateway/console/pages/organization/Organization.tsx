/** The organization: who belongs to it, what they and programs may do, and what it has set. Each tab has an address of its own. */
import type { ComponentChildren } from "preact"
import { caller, may } from "#gateway/console/base/caller.ts"
import { Tabs } from "#gateway/console/base/Tabs.tsx"
import { ApiKeys } from "./ApiKeys.tsx"
import { AuditLog } from "./AuditLog.tsx"
import { Members } from "./Members.tsx"
import { OptOuts } from "./OptOuts.tsx"
import { Quotas } from "./Quotas.tsx"
import { Sessions } from "./Sessions.tsx"
import { Settings } from "./Settings.tsx"
import { Webhook } from "./Webhook.tsx"
import { Webhooks } from "./Webhooks.tsx"

interface Tab {
  readonly path: string
  readonly name: string
  readonly isHidden?: () => boolean
  readonly show: (id: string | undefined) => ComponentChildren
}

/** A key that belongs to nobody: it cannot log in. */
const isWithoutUser = () => caller.value?.email === null

const tabs: ReadonlyArray<Tab> = [
  { path: "members", name: "Members", show: () => <Members /> },
  { path: "keys", name: "API keys", show: () => <ApiKeys /> },
  { path: "sessions", name: "Log-ins", isHidden: isWithoutUser, show: () => <Sessions /> },
  { path: "audit", name: "Audit log", isHidden: () => !may("admin", "read"), show: () => <AuditLog /> },
  { path: "webhooks", name: "Webhooks", show: (id) => (id === undefined ? <Webhooks /> : <Webhook key={id} id={id} />) },
  { path: "quotas", name: "Quotas", show: () => <Quotas /> },
  { path: "opt-outs", name: "Not to be called", show: () => <OptOuts /> },
  { path: "settings", name: "Settings", show: () => <Settings /> }
]

export const Organization = ({ id, tab = "members" }: { readonly tab: string | undefined; readonly id: string | undefined }) => {
  const allowed = tabs.filter(({ isHidden }) => isHidden?.() !== true)
  const present = allowed.find(({ path }) => path === tab) ?? allowed[0]
  return (
    <>
      <h1>Organization</h1>
      <Tabs label="Organization" at="organization" tabs={allowed.map(({ name, path }) => [path, name])} chosen={present?.path ?? ""} />
      {present?.show(id)}
    </>
  )
}
