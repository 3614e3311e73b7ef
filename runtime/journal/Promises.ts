/**
 * What clients have been promised: that a campaign has stopped, and that numbers will not be called again. It is in the database before the
 * client is answered, but a database that fails over may lose it; if the engine dies too, only its journal knows.
 */
import { Context, Effect, Layer } from "effect"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import { type Place, Sealer, type Seals } from "#core/Sealer.ts"
import { LocalJournal } from "./LocalJournal.ts"

/** `dialEpoch`: the last one in which the campaign was seen running; null if it was not seen running. */
type PromiseMade =
  | { readonly _tag: "Stopped"; readonly id: CampaignId; readonly dialEpoch: number | null }
  | { readonly _tag: "Started"; readonly id: CampaignId }
  | { readonly _tag: "OptedOut"; readonly organizationId: OrganizationId; readonly phoneNumbers: ReadonlyArray<string> }
  | { readonly _tag: "OptedIn"; readonly organizationId: OrganizationId; readonly phoneNumber: string }

/** The net result of earlier processes' promises. */
interface Promised {
  readonly stopped: ReadonlyMap<CampaignId, number | null>
  readonly optedOut: ReadonlyMap<OrganizationId, ReadonlySet<string>>
}

/** Promises are encrypted, because they contain phone numbers and a journal may be copied and read by people who must not see those. */
const place: Place = { of: "local journal", organizationId: undefined, id: "promise" }

export class Promises extends Context.Service<
  Promises,
  {
    /** Call before the client is answered. */
    readonly note: (made: PromiseMade) => void
    readonly former: Effect.Effect<Promised>
  }
>()("runtime/journal/Promises") {
  static readonly layer = Layer.effect(
    Promises,
    Effect.gen(function* () {
      const local = yield* LocalJournal
      const sealer = yield* Sealer
      return {
        note: (made) => local.promised(sealer.seal(place, JSON.stringify(made))),
        former: Effect.gen(function* () {
          const made = local.promises.flatMap((text) => opened(sealer, text))
          const unreadable = local.promises.length - made.length
          if (unreadable > 0)
            yield* Effect.logWarning("promises to clients cannot be read: the installation's key has changed", { promises: unreadable })
          return promisedBy(made)
        })
      }
    })
  )
  /** For tests: nothing is kept. */
  static readonly layerNone = Layer.succeed(Promises, { note: () => {}, former: Effect.sync(() => promisedBy([])) })
}

/** Nothing, if the installation's key has changed since. */
const opened = (sealer: Seals, text: string): ReadonlyArray<PromiseMade> => {
  try {
    // Anything the key opens was sealed in `note`.
    return [JSON.parse(sealer.open(place, text)) as PromiseMade]
  } catch {
    return []
  }
}

const promisedBy = (all: ReadonlyArray<PromiseMade>): Promised => {
  const stopped = new Map<CampaignId, number | null>()
  const optedOut = new Map<OrganizationId, Set<string>>()
  for (const made of all) {
    switch (made._tag) {
      case "Stopped":
        stopped.set(made.id, made.dialEpoch)
        break
      case "Started":
        stopped.delete(made.id)
        break
      case "OptedOut":
        optedOut.set(made.organizationId, new Set([...(optedOut.get(made.organizationId) ?? []), ...made.phoneNumbers]))
        break
      case "OptedIn":
        optedOut.get(made.organizationId)?.delete(made.phoneNumber)
    }
  }
  return { stopped, optedOut }
}

/** The in-memory opt-outs, also noted in the journal. */
export const layerOptOuts = Layer.effect(
  RecentOptOuts,
  Effect.gen(function* () {
    const recent = yield* RecentOptOuts
    const { note } = yield* Promises
    return RecentOptOuts.of({
      ...recent,
      add: (organizationId, phoneNumbers) => {
        recent.add(organizationId, phoneNumbers)
        note({ _tag: "OptedOut", organizationId, phoneNumbers })
      },
      remove: (organizationId, phoneNumber) => {
        recent.remove(organizationId, phoneNumber)
        note({ _tag: "OptedIn", organizationId, phoneNumber })
      }
    })
  })
).pipe(Layer.provide(RecentOptOuts.layer))
