/** An answer for which the database shows nothing but what is the caller's, to the last byte of a file. */
import { Effect, Stream } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { CurrentRole } from "#core/organization/CurrentRole.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import type { Reply } from "#gateway/http/Endpoint.ts"
import { resolved } from "#gateway/http/resolved.ts"

export const withinTenant = <R>(
  caller: Caller | undefined,
  isFile: boolean,
  reply: Effect.Effect<Reply, never, R>
): Effect.Effect<Reply, never, R> => {
  // What is known already has asked the database nothing.
  if (caller === undefined || (resolved(reply) !== undefined && !isFile)) return reply
  const { organizationId } = caller
  const made = reply.pipe(Effect.provideService(CurrentTenant, organizationId), Effect.provideService(CurrentRole, caller.role))
  // The server writes a file in a fiber of its own.
  return isFile ? Effect.map(made, (file) => fileWithinTenant(file, organizationId)) : made
}

const fileWithinTenant = (file: Reply, organizationId: OrganizationId): Reply =>
  typeof file.body === "string"
    ? file
    : { ...file, body: { ...file.body, stream: Stream.provideService(file.body.stream, CurrentTenant, organizationId) } }
