import { Effect, Layer } from "effect"
import { type Egress, EgressPolicy } from "#core/egress/Egress.ts"
import type { OrganizationId } from "#core/Id.ts"
import { readNetwork } from "#core/egress/Network.ts"
import { OwnPlaces } from "#runtime/egress/OwnPlaces.ts"
import * as policy from "#runtime/egress/policy.ts"

interface Rules {
  /** In the format of `EGRESS_ALLOW`. */
  readonly allow?: string
  readonly privateWebhooks?: boolean
  readonly first?: OrganizationId
  readonly own?: Partial<OwnPlaces["Service"]>
}

/** The engine's own policy, for an engine that listens nowhere. */
export const egress = ({ allow, first, own, privateWebhooks = false }: Rules = {}) =>
  policy
    .layerOf({
      allow: (allow?.split(",") ?? []).flatMap((one) => readNetwork(one.trim()) ?? []),
      first: Effect.succeed(first),
      privateWebhooks
    })
    .pipe(Layer.provide(Layer.succeed(OwnPlaces, { add: () => {}, has: () => false, isOfMachine: () => false, ...own })))

const ask = <A>(question: (policies: typeof EgressPolicy.Service) => Effect.Effect<A>, rules: Rules): A =>
  Effect.runSync(Effect.flatMap(EgressPolicy, question).pipe(Effect.provide(egress(rules))))

export const webhooksOf = (rules: Rules = {}): Egress => ask(({ webhooks }) => Effect.succeed(webhooks), rules)
export const trunksOf = (organizationId: OrganizationId, rules: Rules = {}): Egress =>
  ask(({ trunksOf }) => trunksOf(organizationId), rules)
/** For several organizations of one engine. */
export const trunksOfAll = (rules: Rules = {}) => {
  const trunksOf = ask((policies) => Effect.succeed(policies.trunksOf), rules)
  return (organizationId: OrganizationId): Egress => Effect.runSync(trunksOf(organizationId))
}
