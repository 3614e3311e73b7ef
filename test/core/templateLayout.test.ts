/** Where the editor of the existing product shows the nodes of our templates: with room between them, and no edge behind a node. */
import t from "tap"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"

/** The size of a node there, and the least room around it. */
const [width, height, room] = [350, 190, 60]

interface Point {
  readonly x: number
  readonly y: number
}
interface Graph {
  readonly nodes: ReadonlyArray<{ readonly id: string; readonly position: Point }>
  readonly edges: ReadonlyArray<{ readonly id: string; readonly source: string; readonly target: string }>
}

/** An edge as React Flow draws it: a curve from the bottom of its source to the top of its target. */
const curve = (from: Point, to: Point): ReadonlyArray<Point> => {
  const down = to.y - from.y
  const reach = down >= 0 ? down / 2 : 6.25 * Math.sqrt(-down)
  const along = (part: number): Point => {
    const [a, b, c, d] = [(1 - part) ** 3, 3 * part * (1 - part) ** 2, 3 * part ** 2 * (1 - part), part ** 3]
    return { x: (a + b) * from.x + (c + d) * to.x, y: a * from.y + b * (from.y + reach) + c * (to.y - reach) + d * to.y }
  }
  return Array.from({ length: 99 }, (_, index) => along((index + 1) / 100))
}

for (const { definition, name } of agentTemplates) {
  t.test(`given the template ${name}`, async (t) => {
    // Cast: another test checks that the definition is a valid graph.
    const { edges, nodes } = definition as unknown as Graph
    const at = new Map(nodes.map(({ id, position }) => [id, position]))
    const place = (id: string): Point => at.get(id) ?? { x: Number.NaN, y: Number.NaN }

    for (const [index, one] of nodes.entries()) {
      for (const other of nodes.slice(index + 1)) {
        const [x, y] = [Math.abs(one.position.x - other.position.x), Math.abs(one.position.y - other.position.y)]
        t.ok(x >= width + room || y >= height + room, `${one.id} and ${other.id} have room between them`)
      }
    }
    for (const { id, source, target } of edges) {
      const from = { x: place(source).x + width / 2, y: place(source).y + height }
      const points = curve(from, { x: place(target).x + width / 2, y: place(target).y })
      const hidden = nodes.filter(({ position: { x, y } }) =>
        points.some((point) => point.x > x && point.x < x + width && point.y > y && point.y < y + height)
      )
      const ids = hidden.map((node) => node.id)
      t.strictSame(ids, [], `the edge ${id} is seen`)
    }
  })
}
