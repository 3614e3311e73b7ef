/** /api/v1/public/download: the files of a run, for anybody who has its token. */
import { Effect } from "effect"
import Type from "typebox"
import { AuditLog } from "#core/organization/AuditLog.ts"
import { Runs } from "#core/run/Runs.ts"
import { FileLinks } from "#gateway/file/FileLinks.ts"
import { ArtifactUnsupported, NotFound } from "#gateway/request/Refusal.ts"
import { redirect, tagged } from "#gateway/request/Route.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { filesTag } from "./file.ts"

const linkSeconds = 3600
const artifacts: ReadonlySet<string> = new Set(["recording", "transcript", "user_recording", "bot_recording"])
const expired = () => Effect.fail(new NotFound({ detail: "Invalid or expired token" }))

export const downloadRoutes = tagged(filesTag, [
  redirect({
    method: "get",
    path: "/api/v1/public/download/workflow/:token/:artifact_type",
    name: "downloadArtifact",
    summary: "Get a file of a call",
    description:
      "Requires the call's `public_access_token`. A recording holds both sides in one file, so `user_recording` and `bot_recording` do not exist.",
    access: "none",
    isSealed: true,
    params: Type.Object({
      token: Type.String(),
      artifact_type: Type.String({ description: "`recording`, `transcript`, `user_recording` or `bot_recording`." })
    }),
    query: Type.Object({ inline: Type.Boolean({ default: false, description: "Show the file rather than save it." }) }),
    errors: ["ArtifactUnsupported", "NotFound"],
    handle: ({ client, params, query }) =>
      Effect.gen(function* () {
        const links = yield* FileLinks
        const id = yield* Effect.catchTag(links.runOf(params.token), "LinkRefused", expired)
        const name = params.artifact_type
        if (!artifacts.has(name)) return yield* new ArtifactUnsupported()
        const files = yield* Runs.use((_) => _.artifacts(id)).pipe(Effect.catchTag("RunNotFound", expired))
        const key = name === "transcript" ? files.transcriptKey : name === "recording" ? files.recordingKey : undefined
        if (key === undefined) return yield* new NotFound({ detail: `No ${name} available for this workflow run` })
        const caller = { organizationId: files.organizationId }
        const read = { caller, action: "downloadArtifact", resourceKind: "runs", resourceId: String(id), address: client.address }
        yield* AuditLog.use((_) => _.record(read))
        const site = yield* Effect.flatMap(ServerInfo, ({ url }) => url)
        return `${site}${yield* links.make({ key, seconds: linkSeconds, isInline: query.inline, maker: undefined })}`
      })
  })
])
