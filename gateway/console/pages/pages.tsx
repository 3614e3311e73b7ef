/** Which page is shown at which place. */
import type { ComponentChildren } from "preact"
import { Agent } from "./agents/Agent.tsx"
import { Agents } from "./agents/Agents.tsx"
import { Campaign } from "./campaigns/Campaign.tsx"
import { Campaigns } from "./campaigns/Campaigns.tsx"
import { NewCampaign } from "./campaigns/NewCampaign.tsx"
import { Now } from "./now/Now.tsx"
import { Run } from "./runs/Run.tsx"

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
  }
]

const runOf = ([agent, id]: ReadonlyArray<string>) =>
  agent === undefined || id === undefined ? undefined : <Run key={id} agent={agent} id={id} />

export const pageOf = ([path = "", ...rest]: ReadonlyArray<string>): ComponentChildren =>
  (path === "runs" ? runOf(rest) : undefined) ?? (pages.find((page) => page.path === path) ?? pages[0])?.show(rest)
