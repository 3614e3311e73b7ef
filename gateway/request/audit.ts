/**
 * Records in the audit log each request that changed something or read what people said: which operation, on what, by whom and from where.
 * Nothing that the request contained is recorded.
 */
import { Effect } from "effect"
import { AuditLog } from "#core/organization/AuditLog.ts"
import type { AnyGiven, Route } from "./Route.ts"

/** Runs the handler, and records its success. */
export const audited = <A, E, R>(
  route: Pick<Route<unknown>, "method" | "name" | "notes" | "path" | "tag">,
  given: AnyGiven,
  handled: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | AuditLog> => {
  const { caller, client, params } = given
  if (caller === undefined || (route.method === "get" && route.notes === undefined)) return handled
  const { address } = client
  return Effect.tap(handled, (value) =>
    AuditLog.use((log) =>
      log.record({
        caller,
        action: route.name,
        resourceKind: route.tag.name.toLowerCase().replaceAll(" ", "_"),
        resourceId: namedBy(route.notes, given) ?? idOf(value) ?? lastId(route.path, params),
        address
      })
    )
  )
}

/** The id of what was read. */
const namedBy = (name: string | undefined, { params }: AnyGiven): string | undefined =>
  name === undefined ? undefined : String(params[name])

/** The id of what was created or changed, if the answer contains it. */
const idOf = (value: unknown): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const id: unknown = names.map((name) => Reflect.get(value, name)).find((one) => typeof one === "number" || typeof one === "string")
  return id === undefined ? undefined : String(id)
}
/** The API's names for ids, in paths and answers. */
const names = ["tool_uuid", "document_uuid", "uuid", "workflow_run_id", "user_id", "id"]

/** The last id in the path. */
const lastId = (path: string, params: Readonly<Record<string, unknown>>): string | undefined => {
  const name = path
    .split("/")
    .findLast((segment) => segment.startsWith(":"))
    ?.slice(1)
  const id = name === undefined ? undefined : params[name]
  return id === undefined ? undefined : String(id)
}
