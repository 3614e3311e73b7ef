/** /api/v1/organizations/opt-outs: numbers that an organization no longer calls. */
import { Effect } from "effect"
import { OptOuts } from "#core/contact/OptOuts.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import {
  AddOptOuts,
  OptOutListQuery,
  OptOutListWire,
  OptOutPath,
  OptOutRemoved,
  OptOutsAdded,
  optOutPage,
  optOutSelectionOf
} from "#gateway/wire/OptOut.ts"

const all = "/api/v1/organizations/opt-outs"

export const optOutRoutes = tagged({ name: "Opt-outs", about: "Numbers that are not called any more.", scope: "campaigns" }, [
  list({
    path: all,
    name: "listOptOuts",
    summary: "List the numbers that have opted out, in their order",
    description: "With `phone_number`, tells whether a number has opted out.",
    query: OptOutListQuery,
    success: OptOutListWire,
    handle: ({ caller, query }) =>
      OptOuts.use((_) => _.list(caller.organizationId, optOutSelectionOf(query))).pipe(Effect.map((found) => optOutPage(query, found)))
  }),
  route({
    method: "post",
    path: all,
    name: "addOptOuts",
    summary: "Stop calling numbers",
    description:
      "Once this is answered, no campaign or single call of the organization dials these numbers; calls that have left already continue. Contacts with these numbers end when their turn comes. Each new number causes an event `contact.opted_out`; numbers that have opted out before stay as they are.",
    body: AddOptOuts,
    success: OptOutsAdded,
    handle: ({ body, caller }) =>
      OptOuts.use((_) => _.add(caller.organizationId, body.phone_numbers, { source: "api", runId: undefined })).pipe(
        Effect.map((added) => ({ added }))
      )
  }),
  route({
    method: "delete",
    path: `${all}/:opt_out_id`,
    name: "removeOptOut",
    summary: "Allow calls to a number again",
    description: "Contacts that have ended because of the opt-out stay as they are. 404 for a number that has not opted out.",
    needs: "admin",
    params: OptOutPath,
    success: OptOutRemoved,
    errors: ["OptOutNotFound"],
    handle: ({ caller, params }) =>
      OptOuts.use((_) => _.remove(caller.organizationId, params.opt_out_id)).pipe(Effect.as({ message: "Opt-out removed" }))
  })
])
