/** The graph of an agent: a button for each node, and the ways between them. */
import { counted, words } from "#gateway/console/base/words.ts"
import { type Box, boxesOf, boxSize, type Graph as Its, type GraphEdge, labelOf, nameOf } from "./graph.ts"

interface GraphProps {
  readonly graph: Its
  /** The node that is open, by its id. */
  readonly chosen: string | undefined
  readonly onChoose: (id: string) => void
  /** The node in which a conversation is. */
  readonly entered: string | undefined
  /** How often calls went along an edge, by its id. */
  readonly visits: ReadonlyMap<string, number>
}

const widest = 9

interface WayProps {
  readonly edge: GraphEdge
  readonly from: Box
  readonly to: Box
  readonly count: number
  /** Of the edge that was used most. */
  readonly most: number
}

const Way = ({ count, edge, from, most, to }: WayProps) => {
  const start = { x: from.x + boxSize.width / 2, y: from.y + boxSize.height }
  const end = { x: to.x + boxSize.width / 2, y: to.y }
  const bend = Math.max(32, Math.abs(end.y - start.y) / 2)
  const path = `M ${start.x} ${start.y} C ${start.x} ${start.y + bend}, ${end.x} ${end.y - bend}, ${end.x} ${end.y}`
  const label = labelOf(edge)
  return (
    <g class="way">
      <path d={path} fill="none" stroke-width={most === 0 ? 1.5 : 1.5 + ((widest - 1.5) * count) / most} marker-end="url(#arrow)">
        <title>{most === 0 ? label : `${label}: ${counted(count, "time")}`}</title>
      </path>
      {/* Nearer to its end than to its start, where several ways leave. */}
      <text x={start.x + (end.x - start.x) * 0.7} y={start.y + (end.y - start.y) * 0.7} text-anchor="middle">
        {label.length > 24 ? `${label.slice(0, 23)}…` : label}
      </text>
    </g>
  )
}

export const Graph = ({ chosen, entered, graph, onChoose, visits }: GraphProps) => {
  const boxes = boxesOf(graph)
  const byId = new Map(boxes.map((box) => [box.node.id, box]))
  const width = Math.max(0, ...boxes.map(({ x }) => x)) + boxSize.width + 4
  const height = Math.max(0, ...boxes.map(({ y }) => y)) + boxSize.height + 4
  const most = Math.max(0, ...visits.values())
  return (
    <section class="scrolls" aria-label="Graph" tabIndex={0}>
      <div class="graph" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          <title>Ways between the nodes</title>
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M 0 0 L 8 4 L 0 8 z" />
            </marker>
          </defs>
          {graph.edges.map((edge) => {
            const [from, to] = [byId.get(edge.source), byId.get(edge.target)]
            if (from === undefined || to === undefined) return null
            return <Way key={edge.id} edge={edge} from={from} to={to} count={visits.get(edge.id) ?? 0} most={most} />
          })}
        </svg>
        {boxes.map(({ node, x, y }) => (
          <button
            key={node.id}
            type="button"
            class={`node${entered === node.id ? " entered" : ""}`}
            aria-pressed={chosen === node.id}
            aria-current={entered === node.id ? "step" : undefined}
            style={{ left: `${x}px`, top: `${y}px`, width: `${boxSize.width}px`, height: `${boxSize.height}px` }}
            onClick={() => onChoose(node.id)}
          >
            <span class="node-name">{nameOf(node)}</span>
            <small>
              {entered === node.id ? "▶ " : ""}
              {words(node.type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase())}
            </small>
          </button>
        ))}
      </div>
    </section>
  )
}
