import { Effect, Layer } from "effect"
import type { LookupAddress } from "node:dns"
import { type Egress, EgressPolicy } from "#core/egress/Egress.ts"
import type { OrganizationId } from "#core/Id.ts"
import { readNetwork } from "#core/egress/Network.ts"
import { OwnPlaces } from "#runtime/egress/OwnPlaces.ts"
import * as policy from "#runtime/egress/policy.ts"
import { Resolver } from "#runtime/egress/Resolver.ts"

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

/** Resolves to the first list at the first look-up, and so on; a string is the error code of a name without an address. */
export const resolving = (...answers: ReadonlyArray<ReadonlyArray<string> | string>) => {
  const asked: Array<string> = []
  const addressOf = (address: string): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })
  const resolve: typeof Resolver.Service = (name, _, done) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(name)
    if (typeof answer === "string") done(Object.assign(new Error(answer), { code: answer }), [])
    else done(null, answer.map(addressOf))
  }
  return { asked, layer: Layer.succeed(Resolver, resolve) }
}

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
