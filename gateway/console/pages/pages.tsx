/** Which page is shown at which place. */
import type { ComponentChildren } from "preact"
import { Campaign } from "./campaigns/Campaign.tsx"
import { Campaigns } from "./campaigns/Campaigns.tsx"
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
    show: ([id]) => (id === undefined ? <Campaigns /> : <Campaign key={id} id={id} />)
  }
]

const runOf = ([agent, id]: ReadonlyArray<string>) =>
  agent === undefined || id === undefined ? undefined : <Run key={id} agent={agent} id={id} />

export const pageOf = ([path = "", ...rest]: ReadonlyArray<string>): ComponentChildren =>
  (path === "runs" ? runOf(rest) : undefined) ?? (pages.find((page) => page.path === path) ?? pages[0])?.show(rest)
