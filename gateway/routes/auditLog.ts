/** /api/v1/organizations/audit-log */
import { Effect } from "effect"
import { AuditLog } from "#core/organization/AuditLog.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { AuditLogQuery, AuditLogWire, auditLogWire, auditPageOf } from "#gateway/wire/Organization.ts"

export const auditLogRoutes = tagged({ name: "Audit log", about: "Who changed what, and when." }, [
  route({
    method: "get",
    path: "/api/v1/organizations/audit-log",
    name: "listAuditLog",
    summary: "List who changed what, newest first",
    description: "Includes log-ins, refused ones too, and who has read recordings and transcripts.",
    needs: "admin",
    query: AuditLogQuery,
    success: AuditLogWire,
    handle: ({ caller, query }) => {
      const { before, limit } = auditPageOf(query)
      return AuditLog.use((_) => _.list(caller.organizationId, { before, limit: limit + 1 })).pipe(
        Effect.map((entries) => auditLogWire(entries, limit))
      )
    }
  })
])
