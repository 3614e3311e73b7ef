/** /api/v1/organizations/quotas: the quotas of the caller's organization. */
import { Effect } from "effect"
import { LiveEvents } from "#core/event/LiveEvents.ts"
import { Quotas } from "#core/organization/Quotas.ts"
import type { OrganizationNotFound } from "#core/organization/User.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { together } from "#gateway/request/together.ts"
import { QuotasWire, quotasWire, SetOwnQuotas } from "#gateway/wire/Quota.ts"
import { organizationTag } from "./organization.ts"

/** A caller's organization always exists. */
const there = <A, E, R>(quotas: Effect.Effect<A, E | OrganizationNotFound, R>) =>
  Effect.catchTag(quotas, "OrganizationNotFound", Effect.die)

export const quotaRoutes = tagged(organizationTag, [
  together(
    route({
      method: "get",
      path: "/api/v1/organizations/quotas",
      name: "getQuotas",
      summary: "Read the organization's quotas and usage",
      description:
        "What the operator allows the organization, such as agents, storage and requests per second, and how much of it is in use.",
      success: QuotasWire,
      handle: ({ caller: { organizationId } }) =>
        Effect.gen(function* () {
          const { following } = yield* LiveEvents
          return quotasWire(yield* there(Quotas.use((_) => _.get(organizationId))), following(organizationId))
        })
    })
  ),
  route({
    method: "put",
    path: "/api/v1/organizations/quotas",
    name: "setQuotas",
    summary: "Lower the organization's quotas",
    description: "They can be raised again, up to what the operator allows. Existing data stays, and calls in progress continue.",
    needs: "admin",
    body: SetOwnQuotas,
    success: QuotasWire,
    errors: ["QuotaNotAllowed"],
    handle: ({ body, caller: { organizationId } }) =>
      Effect.gen(function* () {
        const { following } = yield* LiveEvents
        return quotasWire(yield* there(Quotas.use((_) => _.setOwn(organizationId, body))), following(organizationId))
      })
  })
])
