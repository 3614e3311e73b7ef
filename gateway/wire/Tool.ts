/** `/tools`: what an agent can do in a call besides talking. */
import Type, { type Static } from "typebox"
import type { ToolId } from "#core/Id.ts"
import type { UserId } from "#core/organization/Caller.ts"
import { isReady, type Tool, toolCategories, toolStatuses, toolTypes } from "#core/tool/Tool.ts"
import type { NewTool, ToolChanges } from "#core/tool/Tools.ts"
import { id, instant, instantOf, nullable, object, optional, orUndefined } from "#gateway/request/Field.ts"
import { pageQuery } from "./Page.ts"
import { ToolDefinitionWire } from "./ToolDefinition.ts"

export const ToolPath = Type.Object({ tool_uuid: Type.String() })
export const ToolListQuery = Type.Object({
  status: optional(
    Type.String({
      description: "`active`, `archived`, `draft`, or several of them separated by commas. If left out, all but archived tools."
    })
  ),
  category: optional(Type.String({ description: "The type of the definition." })),
  ...pageQuery
})

const name = Type.String({ minLength: 1, maxLength: 255 })
const icon = Type.String({ maxLength: 255 })
const color = Type.String({ maxLength: 50 })

export const CreateTool = Type.Refine(
  Type.Object(
    {
      name,
      description: optional(Type.String({ description: "Tells the model when to use it." })),
      category: optional(Type.Enum([...toolCategories], { description: "The type of the definition, which is also the default." })),
      icon: Type.Union([icon, Type.Null()], { default: "globe" }),
      icon_color: Type.Union([color, Type.Null()], { default: "#3B82F6" }),
      definition: ToolDefinitionWire
    },
    { title: "CreateTool" }
  ),
  ({ category, definition }) => category === null || category === definition.type,
  ({ category, definition }) => `category '${category}' must match definition.type '${definition.type}'`
)

export const UpdateTool = Type.Object(
  {
    name: optional(name),
    description: optional(Type.String()),
    icon: optional(icon),
    icon_color: optional(color),
    definition: optional(ToolDefinitionWire),
    status: optional(Type.Enum([...toolStatuses]))
  },
  { title: "UpdateTool", description: "Fields that are left out or null stay as they are. The category follows the definition." }
)

export const newToolOf = (body: Static<typeof CreateTool>, createdBy: UserId | undefined): NewTool => ({
  name: body.name,
  description: orUndefined(body.description),
  icon: orUndefined(body.icon),
  iconColor: orUndefined(body.icon_color),
  definition: body.definition,
  createdBy
})
export const toolChangesOf = (body: Static<typeof UpdateTool>): ToolChanges => ({
  name: orUndefined(body.name),
  description: orUndefined(body.description),
  icon: orUndefined(body.icon),
  iconColor: orUndefined(body.icon_color),
  definition: orUndefined(body.definition),
  status: orUndefined(body.status)
})

const ToolCreator = Type.Object({ id: Type.Integer(), provider_id: Type.String() }, { title: "ToolCreator" })

export const ToolWire = Type.Object(
  {
    id: id<ToolId>(),
    tool_uuid: Type.String({ format: "uuid", description: "How agents refer to it." }),
    name: Type.String(),
    description: nullable(Type.String()),
    category: Type.Enum([...toolTypes]),
    icon: nullable(Type.String()),
    icon_color: nullable(Type.String()),
    status: Type.Enum([...toolStatuses]),
    is_ready: Type.Boolean({ description: "False while it has no URL to call: agents do not use it then." }),
    definition: object("As in the request, with defaults filled in."),
    created_at: instant(),
    updated_at: nullable(instant()),
    created_by: nullable(ToolCreator)
  },
  { title: "Tool" }
)

export const toolWire = (tool: Tool): Static<typeof ToolWire> => ({
  id: tool.id,
  tool_uuid: tool.toolUuid,
  name: tool.name,
  description: tool.description,
  category: tool.category,
  icon: tool.icon,
  icon_color: tool.iconColor,
  status: tool.status,
  is_ready: isReady(tool.definition),
  definition: { ...tool.definition },
  created_at: tool.createdAt.toISOString(),
  updated_at: instantOf(tool.updatedAt ?? undefined),
  created_by:
    tool.createdBy === null || tool.creatorProviderId === null ? null : { id: tool.createdBy, provider_id: tool.creatorProviderId }
})

export const ToolArchived = Type.Object(
  { status: Type.Literal("archived"), tool_uuid: Type.String({ format: "uuid" }) },
  { title: "ToolArchived" }
)
