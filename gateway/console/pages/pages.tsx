/** Which page is shown at which place. */
import type { ComponentChildren } from "preact"
import { Agent } from "./agents/Agent.tsx"
import { Agents } from "./agents/Agents.tsx"
import { Campaign } from "./campaigns/Campaign.tsx"
import { Campaigns } from "./campaigns/Campaigns.tsx"
import { NewCampaign } from "./campaigns/NewCampaign.tsx"
import { Switch } from "./Join.tsx"
import { Now } from "./now/Now.tsx"
import { Organization } from "./organization/Organization.tsx"
import { Services } from "./services/Services.tsx"
import { Run } from "./runs/Run.tsx"
import { Config } from "./telephony/Config.tsx"
import { NewConfig } from "./telephony/ConfigForm.tsx"
import { Configs } from "./telephony/Configs.tsx"

interface Page {
  /** The first part of the place. */
  readonly path: string
  readonly name: string
  /** `g` and this letter go there. */
  readonly letter: string
  /** `rest`: the other parts of the place. */
  readonly show: (rest: ReadonlyArray<string>) => ComponentChildren
}

/** Those in the navigation. */
export const pages: ReadonlyArray<Page> = [
  { path: "now", name: "Now", letter: "n", show: () => <Now /> },
  {
    path: "campaigns",
    name: "Campaigns",
    letter: "c",
    show: ([id]) => (id === undefined ? <Campaigns /> : id === "new" ? <NewCampaign /> : <Campaign key={id} id={id} />)
  },
  {
    path: "agents",
    name: "Agents",
    letter: "a",
    show: ([id, tab]) => (id === undefined ? <Agents /> : <Agent key={id} id={id} tab={tab} />)
  },
  { path: "telephony", name: "Telephony", letter: "t", show: ([id]) => telephonyAt(id) },
  { path: "services", name: "Services", letter: "s", show: () => <Services /> },
  { path: "organization", name: "Organization", letter: "o", show: ([tab, id]) => <Organization tab={tab} id={id} /> }
]

const telephonyAt = (id: string | undefined) => {
  if (id === undefined) return <Configs />
  return id === "new" ? <NewConfig /> : <Config key={id} id={id} />
}

const runOf = ([agent, id]: ReadonlyArray<string>) =>
  agent === undefined || id === undefined ? undefined : <Run key={id} agent={agent} id={id} />

const invitationOf = ([token]: ReadonlyArray<string>) => (token === undefined ? undefined : <Switch token={token} />)

/** Those that are reached by links alone. */
const others = new Map<string, Page["show"]>([
  ["runs", runOf],
  ["invitation", invitationOf]
])

export const pageOf = ([path = "", ...rest]: ReadonlyArray<string>): ComponentChildren =>
  others.get(path)?.(rest) ?? (pages.find((page) => page.path === path) ?? pages[0])?.show(rest)
