/** The course of a conversation with a scripted callee, recorded as it proceeds. */
import type { ConversationEdge, ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import type { Conclusion, ConversationNote } from "#core/agent/conversation/ConversationState.ts"

export interface TranscriptLine {
  /** `event`: neither of them said it, but it happened. */
  readonly who: "agent" | "callee" | "event"
  readonly text: string
  /** The name of the node in which it happened. */
  readonly node: string
}

export interface Walk {
  readonly path: ReadonlyArray<ConversationNode>
  readonly edges: ReadonlyArray<ConversationEdge>
  /** The tools that were called, without those that stand for edges. */
  readonly calls: ReadonlyArray<string>
  readonly transcript: ReadonlyArray<TranscriptLine>
  /** The node that was just left, until it is known by which edge. */
  readonly left: ConversationNode | undefined
  /** Undefined: it has not concluded. */
  readonly conclusion: Conclusion | undefined
}

export const freshWalk: Walk = { path: [], edges: [], calls: [], transcript: [], left: undefined, conclusion: undefined }

export const spoken = (walk: Walk, who: TranscriptLine["who"], text: string): Walk => ({
  ...walk,
  transcript: [...walk.transcript, { who, text, node: walk.path.at(-1)?.name ?? "" }]
})

export const noted = (walk: Walk, note: ConversationNote): Walk => {
  switch (note._tag) {
    case "NodeEntered":
      return { ...walk, path: [...walk.path, note.node], left: note.previous }
    case "ToolStarted": {
      const { name } = note.call
      const isEdge = walk.path.at(-1)?.edges.some(({ tool }) => tool === name) ?? false
      return isEdge ? walk : spoken({ ...walk, calls: [...walk.calls, name] }, "event", `calls ${name}`)
    }
    case "ToolEnded": {
      const edge = note.result["status"] === "done" ? walk.left?.edges.find(({ tool }) => tool === note.call.name) : undefined
      return edge === undefined ? walk : { ...walk, edges: [...walk.edges, edge], left: undefined }
    }
    case "ModelTrouble":
      return spoken(walk, "event", `the model is in trouble: ${note.trouble}`)
    case "ToolUnreadable":
      return spoken(walk, "event", `the tool ${note.name} cannot be opened`)
    case "ExtractionFailed":
      return spoken(walk, "event", `the variables of ${note.node.name} could not be extracted`)
    case "VariableRefused":
      return spoken(walk, "event", `a value for ${note.name} is not of its type`)
    case "GreetingIgnored":
      return spoken(walk, "event", "the contact's greeting is malformed")
  }
}
