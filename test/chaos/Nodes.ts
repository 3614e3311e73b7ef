/**
 * Several engines on one database, each with its own name and disk, under a supervisor, which restarts each one that ends. One of them
 * dispatches calls, which all carry.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import type { Test } from "tap"
import { type EngineProcess, type Environment, spawnEngine } from "#test/support/EngineProcess.ts"
import type { World } from "#test/support/engine.ts"
import { until, untilTrue } from "#test/support/until.ts"

/** Whether it was asked to end, and still has calls. */
const isLeaving = (engine: EngineProcess): boolean => engine.output().includes("calls get time to end")

const isReady = (engine: EngineProcess): boolean => engine.output().includes("this engine carries the calls")

export class Nodes {
  /** `count` engines, one of which the world has started. `more`: what else the others are given. */
  static async start(t: Test, world: World, count: number, say: (line: string) => void, more: Environment = {}): Promise<Nodes> {
    const nodes = new Nodes(world, say, more)
    t.teardown(() => nodes.#end())
    nodes.#supervise("journey", world.engine)
    for (let at = 2; at <= count; at++) {
      const name = `node${at}`
      await mkdir(join(world.dataDir, name))
      nodes.#spawn(name)
    }
    return nodes
  }

  readonly #world: World
  readonly #say: (line: string) => void
  readonly #more: Environment
  readonly #processes = new Map<string, EngineProcess>()
  #isOver = false

  private constructor(world: World, say: (line: string) => void, more: Environment) {
    this.#world = world
    this.#say = say
    this.#more = more
  }

  /** By its name, the process that it is now. */
  process(name: string): EngineProcess {
    const engine = this.#processes.get(name)
    if (engine === undefined) throw new Error(`no engine ${name}`)
    return engine
  }

  /** Resolves with the name of an engine that does this. */
  async doing(what: "dispatches" | "carries calls"): Promise<string> {
    return await until(`engine that ${what}`, () => [...this.states].find(([, state]) => state === what)?.[0])
  }

  /** Those that take calls from the one that dispatches. */
  get callNodes(): ReadonlyArray<EngineProcess> {
    const { pid } = this.#world.engine
    return [...this.#processes.values()].filter((engine) => engine.pid !== pid && isReady(engine) && !isLeaving(engine))
  }

  /** What each engine does, by its name. */
  get states(): ReadonlyMap<string, "dispatches" | "carries calls" | "starts"> {
    const { pid } = this.#world.engine
    const stateOf = (engine: EngineProcess) => {
      if (engine.pid === pid) return "dispatches"
      return isReady(engine) ? "carries calls" : "starts"
    }
    return new Map([...this.#processes].map(([name, engine]) => [name, stateOf(engine)]))
  }

  /** Resolves when an engine other than this one dials. */
  async untilReplaced(pid: number | undefined): Promise<void> {
    await untilTrue("engine that takes over", () => this.#world.engine.pid !== pid)
  }

  #spawn(name: string): void {
    const { dataDir, environment } = this.#world
    const own: Environment = name === "journey" ? {} : { DATA_DIR: join(dataDir, name), NODE_NAME: name, ...this.#more }
    this.#supervise(name, spawnEngine({ ...environment, ...own }))
  }

  #supervise(name: string, engine: EngineProcess): void {
    this.#processes.set(name, engine)
    // Only the engine that has the database becomes ready.
    const taken = engine.ready.then((url) => {
      if (this.#isOver || this.#world.engine.pid === engine.pid) return
      this.#say(`  ${name} takes over`)
      this.#world.become({ ...engine, url })
    })
    taken.catch(() => {})
    void engine.exited.then(() => {
      this.#world.keep(engine)
      if (!this.#isOver) this.#spawn(name)
    })
  }

  async #end(): Promise<void> {
    this.#isOver = true
    for (const { kill } of this.#processes.values()) {
      kill("SIGCONT")
      kill("SIGKILL")
    }
    await Promise.all([...this.#processes.values()].map(({ exited }) => exited))
  }
}
