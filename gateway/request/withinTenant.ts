/** Confines a request to its caller's organization: the database shows no other rows, up to the last byte of a streamed file. */
import { Effect, Stream } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { CurrentRole } from "#core/organization/CurrentRole.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { isWhole, type Reply } from "#gateway/http/Endpoint.ts"
import { resolved } from "#gateway/http/resolved.ts"

export const withinTenant = <R>(
  caller: Caller | undefined,
  isFile: boolean,
  reply: Effect.Effect<Reply, never, R>
): Effect.Effect<Reply, never, R> => {
  // An answer that is known at once has not used the database.
  if (caller === undefined || (resolved(reply) !== undefined && !isFile)) return reply
  const { organizationId } = caller
  const made = reply.pipe(Effect.provideService(CurrentTenant, organizationId), Effect.provideService(CurrentRole, caller.role))
  // The server writes a file in a fiber of its own.
  return isFile ? Effect.map(made, (file) => fileWithinTenant(file, organizationId)) : made
}

const fileWithinTenant = (file: Reply, organizationId: OrganizationId): Reply =>
  isWhole(file.body)
    ? file
    : { ...file, body: { ...file.body, stream: Stream.provideService(file.body.stream, CurrentTenant, organizationId) } }
