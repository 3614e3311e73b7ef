/**
 * Counts of answers, as plain numbers. A route's counters are looked up when the route is mounted, so that an answer costs an increment.
 */
import { Context } from "effect"
import { Histogram } from "#core/Histogram.ts"

const secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export class RouteMetrics {
  readonly method: string
  /** The path as declared, never as requested. */
  readonly route: string
  /** Time from the complete request to the beginning of its answer; answers that were known at once are not included. */
  readonly seconds = new Histogram(secondsBounds)
  /** Counts answers with status 200, by far the most frequent. */
  private ok = 0
  private readonly others = new Map<number, number>()

  constructor(method: string, route: string) {
    this.method = method
    this.route = route
  }

  answered(status: number): void {
    if (status === 200) this.ok++
    else this.others.set(status, (this.others.get(status) ?? 0) + 1)
  }

  /** The number of answers per status. */
  get answers(): ReadonlyArray<readonly [status: number, count: number]> {
    return this.ok === 0 ? [...this.others] : [[200, this.ok], ...this.others]
  }
}

/** For requests that match no route. Clients can send arbitrary methods: all but these count as one. */
const strayRoute = "other"
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

export class HttpMetrics {
  private readonly routes = new Map<string, RouteMetrics>()

  of(method: string, route: string): RouteMetrics {
    const name = `${method} ${route}`
    const metrics = this.routes.get(name) ?? new RouteMetrics(method, route)
    this.routes.set(name, metrics)
    return metrics
  }

  /** Metrics of requests that match no route. `method` is in lower case. */
  ofStray(method: string): RouteMetrics {
    const name = method.toUpperCase()
    return this.of(methods.has(name) ? name : "OTHER", strayRoute)
  }

  all(): Iterable<RouteMetrics> {
    return this.routes.values()
  }
}

/** The metrics of this process. */
export const CurrentHttpMetrics = Context.Reference<HttpMetrics>("gateway/ports/CurrentHttpMetrics", {
  defaultValue: () => new HttpMetrics()
})
