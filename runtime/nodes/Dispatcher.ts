/** The engine that dispatches, as the calls of this one know it: what is said to it, and what it wants to be told. It may be this engine itself. */
import { Context, Layer } from "effect"
import type { OrganizationId, RunId } from "#core/Id.ts"
import type { FromNode, ToNode } from "./messages.ts"

type Watch = Extract<ToNode, { readonly _tag: "Watch" }>

export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    readonly say: (message: FromNode) => void
    readonly follow: (say: (message: FromNode) => void) => void
    readonly lost: () => void
    /** Whether what is said reaches it, as far as is known. */
    readonly isHeard: () => boolean
    /** An engine of this release has dispatched calls to this one: the database has this release's schema. */
    readonly hasFollowed: () => boolean
    /** This engine dispatches from now on, and hears what its calls say. */
    readonly isHere: (hear: (message: FromNode) => void) => void
    /** Calls `tell` whenever this node follows a dispatcher, which may be the same one as before. */
    readonly onFollow: (tell: () => void) => void
    /** Somebody watches a run, or nobody does any more. */
    readonly watch: (run: Watch) => void
    readonly isWatched: (organizationId: OrganizationId, runId: RunId) => boolean
  }
>()("runtime/nodes/Dispatcher") {
  static readonly layer = Layer.sync(Dispatcher, () => {
    const silent = () => {}
    const watchers: Array<() => void> = []
    let say: (message: FromNode) => void = silent
    let hasFollowed = false
    const watched = new Set<string>()
    const keyOf = (organizationId: OrganizationId, runId: RunId) => `${organizationId} ${runId}`
    return {
      isWatched: (organizationId: OrganizationId, runId: RunId) => watched.has(keyOf(organizationId, runId)),
      watch: ({ isWatched, organizationId, runId }: Watch) => {
        if (isWatched) watched.add(keyOf(organizationId, runId))
        else watched.delete(keyOf(organizationId, runId))
      },
      hasFollowed: () => hasFollowed,
      isHeard: () => say !== silent,
      say: (message: FromNode) => say(message),
      follow: (to: (message: FromNode) => void) => {
        say = to
        hasFollowed = true
        watched.clear()
        for (const tell of watchers) tell()
      },
      onFollow: (tell: () => void) => void watchers.push(tell),
      lost: () => {
        say = silent
        watched.clear()
      },
      isHere: (hear: (message: FromNode) => void) => {
        say = hear
        watched.clear()
      }
    }
  })
}
