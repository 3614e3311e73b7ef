/** /api/v1/tools */
import { Effect } from "effect"
import Type from "typebox"
import { toolCategories, toolStatuses } from "#core/tool/Tool.ts"
import { Tools, type ToolFilter } from "#core/tool/Tools.ts"
import { NotPossible } from "#gateway/request/Refusal.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import { listedPart, pageOf } from "#gateway/wire/Page.ts"
import { orUndefined } from "#gateway/request/Field.ts"
import {
  CreateTool,
  newToolOf,
  ToolArchived,
  toolChangesOf,
  ToolListQuery,
  ToolPath,
  ToolWire,
  toolWire,
  UpdateTool
} from "#gateway/wire/Tool.ts"

const oneOf =
  <Word extends string>(words: ReadonlyArray<Word>) =>
  (text: string): text is Word =>
    words.some((word) => word === text)
const isStatus = oneOf(toolStatuses)
const isCategory = oneOf(toolCategories)

const filterOf = Effect.fnUntraced(function* (query: { readonly status: string | null; readonly category: string | null }) {
  const words = orUndefined(query.status)
    ?.split(",")
    .map((word) => word.trim())
  const unknown = words?.find((word) => !isStatus(word))
  if (unknown !== undefined) {
    return yield* new NotPossible({ detail: `Invalid status '${unknown}'. Must be one of: ${toolStatuses.join(", ")}` })
  }
  const category = orUndefined(query.category)
  if (category !== undefined && !isCategory(category)) {
    return yield* new NotPossible({ detail: `Invalid category '${category}'. Must be one of: ${toolCategories.join(", ")}` })
  }
  const filter: ToolFilter = { category, statuses: words?.filter(isStatus) }
  return filter
})

export const toolRoutes = tagged({ name: "Tools", about: "What agents can do besides talking.", scope: "agents" }, [
  list({
    path: "/api/v1/tools/",
    name: "listTools",
    summary: "List tools, by name",
    description: "All but archived tools, unless `status` asks for others. 400 for a status or category that does not exist.",
    query: ToolListQuery,
    success: Type.Array(ToolWire),
    errors: ["NotPossible"],
    handle: ({ caller, query }) =>
      filterOf(query).pipe(
        Effect.flatMap((filter) => Tools.use((_) => _.list(caller.organizationId, filter, pageOf(query)))),
        Effect.map((tools) => listedPart(query, tools, (shown) => shown.map(toolWire)))
      )
  }),
  route({
    method: "post",
    path: "/api/v1/tools/",
    name: "createTool",
    summary: "Create a tool",
    description:
      "It can be named by the nodes of agents at once. 404 for a credential that the organization does not have, 422 for one that may not be sent to the tool's host.",
    body: CreateTool,
    success: ToolWire,
    errors: ["CredentialHostRefused", "CredentialNotFound"],
    handle: ({ body, caller }) =>
      Tools.use((_) => _.create(caller.organizationId, newToolOf(body, caller.userId))).pipe(Effect.map(toolWire))
  }),
  route({
    method: "get",
    path: "/api/v1/tools/:tool_uuid",
    name: "getTool",
    summary: "Read a tool",
    description: "Its definition, with the name of its credential and never its secret. 404 if the organization has no such tool.",
    params: ToolPath,
    success: ToolWire,
    errors: ["ToolNotFound"],
    handle: ({ caller, params }) => Tools.use((_) => _.get(caller.organizationId, params.tool_uuid)).pipe(Effect.map(toolWire))
  }),
  route({
    method: "put",
    path: "/api/v1/tools/:tool_uuid",
    name: "updateTool",
    summary: "Change a tool",
    description:
      "Members that are left out stay as they are. 404 if there is no such tool or credential, 422 if the credential may not be sent to the tool's host.",
    params: ToolPath,
    body: UpdateTool,
    success: ToolWire,
    errors: ["ToolNotFound", "CredentialHostRefused", "CredentialNotFound"],
    handle: ({ body, caller, params }) =>
      Tools.use((_) => _.update(caller.organizationId, params.tool_uuid, toolChangesOf(body))).pipe(Effect.map(toolWire))
  }),
  route({
    method: "delete",
    path: "/api/v1/tools/:tool_uuid",
    name: "archiveTool",
    summary: "Archive a tool",
    description: "It stays readable, and agents that refer to it keep their reference. 404 if the organization has no such tool.",
    params: ToolPath,
    success: ToolArchived,
    errors: ["ToolNotFound"],
    handle: ({ caller, params }) =>
      Tools.use((_) => _.archive(caller.organizationId, params.tool_uuid)).pipe(
        Effect.map(({ toolUuid }) => ({ status: "archived" as const, tool_uuid: toolUuid }))
      )
  }),
  route({
    method: "post",
    path: "/api/v1/tools/:tool_uuid/unarchive",
    name: "unarchiveTool",
    summary: "Reactivate an archived tool",
    description: "Agents that name it can use it again from their next conversation on. 404 if the organization has no such tool.",
    params: ToolPath,
    success: ToolWire,
    errors: ["ToolNotFound"],
    handle: ({ caller, params }) => Tools.use((_) => _.unarchive(caller.organizationId, params.tool_uuid)).pipe(Effect.map(toolWire))
  })
])
