/** /api/v1/node-types: the nodes that agents are built from. */
import { Effect } from "effect"
import { nodeTypeOf, nodeTypes } from "#core/agent/NodeTypes.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { NodeSpec, nodeSpec, NodeTypeList, NodeTypePath, specVersion } from "#gateway/wire/NodeType.ts"
import { agentsTag } from "./workflow.ts"

const specs = { spec_version: specVersion, node_types: nodeTypes.map(nodeSpec) }

export const nodeTypeRoutes = tagged(agentsTag, [
  route({
    method: "get",
    path: "/api/v1/node-types",
    name: "listNodeTypes",
    summary: "List node types, by name",
    success: NodeTypeList,
    handle: () => Effect.succeed(specs)
  }),
  route({
    method: "get",
    path: "/api/v1/node-types/:name",
    name: "getNodeType",
    summary: "Read a node type",
    params: NodeTypePath,
    success: NodeSpec,
    errors: ["NotFound"],
    handle: ({ params }) => {
      const type = nodeTypeOf(params.name)
      return type === undefined
        ? Effect.fail(new NotFound({ detail: `Unknown node type: '${params.name}'` }))
        : Effect.succeed(nodeSpec(type))
    }
  })
])
