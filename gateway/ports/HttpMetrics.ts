/**
 * How requests were answered, as plain numbers. What counts the answers of a route is found when the route is mounted, so that an answer
 * costs an increment.
 */
import { Context } from "effect"
import { Histogram } from "#core/Histogram.ts"

const secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export class RouteMetrics {
  readonly method: string
  /** As it is declared, never as it was asked for. */
  readonly route: string
  /** From the whole request to the beginning of its answer; without those whose answer was known at once. */
  readonly seconds = new Histogram(secondsBounds)
  /** With 200, as by far the most are. */
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

  /** How many of each status there were. */
  get answers(): ReadonlyArray<readonly [status: number, count: number]> {
    return this.ok === 0 ? [...this.others] : [[200, this.ok], ...this.others]
  }
}

/** Where no route is; and whoever asks may make up methods. */
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

  /** Of requests that no route takes. `method` in lower case. */
  ofStray(method: string): RouteMetrics {
    const name = method.toUpperCase()
    return this.of(methods.has(name) ? name : "OTHER", strayRoute)
  }

  all(): Iterable<RouteMetrics> {
    return this.routes.values()
  }
}

/** Of this process. */
export const CurrentHttpMetrics = Context.Reference<HttpMetrics>("gateway/ports/CurrentHttpMetrics", {
  defaultValue: () => new HttpMetrics()
})
