/**
 * Figures that change with every call, for pages that show them: pushed to those who follow events, so that a hundred open pages cost one look at
 * the database, and none while nothing happens. All who follow an organization on this node share them.
 */
import { Cause, Context, Deferred, Effect, Layer, RcMap, Schedule, type Scope, Stream } from "effect"
import { Campaigns } from "#core/campaign/Campaigns.ts"
import { Compatibility } from "#core/Compatibility.ts"
import { LiveEvents } from "#core/event/LiveEvents.ts"
import type { OrganizationId } from "#core/Id.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { Quotas } from "#core/organization/Quotas.ts"
import type { Told } from "#gateway/http/Endpoint.ts"
import { progressWire } from "#gateway/wire/Campaign.ts"
import { quotasWire } from "#gateway/wire/Quota.ts"

/** Between two looks, however much happens. */
const PAUSE = "1 second"
const AFTER_FAILURE = "5 seconds"
/** Until a client may have taken what it had to take first. */
const FULL = "1 second"
const mostCampaigns = 100

/** Messages by what they are about. One that says the same as before stays the same object. */
type Frames = ReadonlyMap<string, Buffer>

class Figures {
  #frames: Frames = new Map()
  #changed = Deferred.makeUnsafe<void>()

  show(texts: ReadonlyMap<string, string>): void {
    const before = this.#frames
    const frames = new Map<string, Buffer>()
    for (const [about, text] of texts) {
      const frame = Buffer.from(text)
      const known = before.get(about)
      frames.set(about, known?.equals(frame) === true ? known : frame)
    }
    this.#frames = frames
    const isNew = [...frames].some(([about, frame]) => before.get(about) !== frame)
    if (!isNew) return
    Deferred.doneUnsafe(this.#changed, Effect.void)
    this.#changed = Deferred.makeUnsafe()
  }

  /** A client that cannot take what is new is told what is newest once it can. */
  readonly tell = (writeNow: Told["writeNow"]): Effect.Effect<never> => {
    let told: Frames = new Map()
    return Effect.suspend(() => {
      const frames = this.#frames
      const unknown = [...frames].flatMap(([about, frame]) => (told.get(about) === frame ? [] : [frame]))
      if (unknown.length === 0) return Deferred.await(this.#changed)
      if (!writeNow(Buffer.concat(unknown))) return Effect.sleep(FULL)
      told = frames
      return Effect.void
    }).pipe(Effect.forever)
  }
}

const message = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`

export class LiveFigures extends Context.Service<
  LiveFigures,
  {
    /** Tells a client the organization's figures, and what changes in them, until its scope closes. */
    readonly of: (organizationId: OrganizationId) => Effect.Effect<Pick<Figures, "tell">, never, Scope.Scope>
  }
>()("gateway/events/LiveFigures") {
  static readonly layer = Layer.effect(
    LiveFigures,
    Effect.gen(function* () {
      const campaigns = yield* Campaigns
      const compatibility = yield* Compatibility
      const live = yield* LiveEvents
      const quotas = yield* Quotas

      const look = Effect.fnUntraced(function* (organizationId: OrganizationId, figures: Figures) {
        const used = yield* quotas.get(organizationId)
        const underWay = yield* campaigns.progressUnderWay(organizationId, mostCampaigns)
        figures.show(
          new Map([
            ["quotas", message("quotas", quotasWire(used, live.following(organizationId)))],
            ...underWay.map((one) => [String(one.campaignId), message("progress", progressWire(one, compatibility))] as const)
          ])
        )
      })
      const keep = (organizationId: OrganizationId, figures: Figures) =>
        live.stirs(organizationId).pipe(
          Stream.runForEach(() => Effect.andThen(look(organizationId, figures), Effect.sleep(PAUSE))),
          Effect.provideService(CurrentTenant, organizationId),
          Effect.sandbox,
          Effect.tapError((cause) =>
            Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logWarning("figures could not be read", Cause.squash(cause))
          ),
          Effect.retry(Schedule.spaced(AFTER_FAILURE))
        )
      const shared = yield* RcMap.make({
        lookup: (organizationId: OrganizationId) =>
          Effect.gen(function* () {
            const figures = new Figures()
            yield* Effect.forkScoped(keep(organizationId, figures))
            return figures
          })
      })
      return { of: (organizationId) => RcMap.get(shared, organizationId) }
    })
  )
}
