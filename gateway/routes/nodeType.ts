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
    description:
      "The kinds of nodes of an agent's graph, with their fields, defaults and limits. From this, an editor can show a form for each.",
    success: NodeTypeList,
    handle: () => Effect.succeed(specs)
  }),
  route({
    method: "get",
    path: "/api/v1/node-types/:name",
    name: "getNodeType",
    summary: "Read a node type",
    description: "Its fields, defaults and limits, and how many edges it takes. 404 for a name that the list of node types does not have.",
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
