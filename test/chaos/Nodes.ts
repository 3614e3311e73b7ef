/**
 * Several engines on one database, each with a name and a disk of its own, under a supervisor: whichever ends is started again. One of them dials, the
 * others stand by.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import type { Test } from "tap"
import { type EngineProcess, spawnEngine } from "#test/support/EngineProcess.ts"
import type { World } from "#test/support/engine.ts"
import { untilTrue } from "#test/support/until.ts"

export class Nodes {
  /** Besides the engine that the world has started. */
  static async start(t: Test, world: World, count: number, say: (line: string) => void): Promise<Nodes> {
    const nodes = new Nodes(world, say)
    t.teardown(() => nodes.#end())
    nodes.#supervise("journey", world.engine)
    for (let at = 1; at < count; at++) {
      const name = `node${at + 1}`
      await mkdir(join(world.dataDir, name))
      nodes.#spawn(name)
    }
    return nodes
  }

  readonly #world: World
  readonly #say: (line: string) => void
  readonly #processes = new Map<string, EngineProcess>()
  #isOver = false

  private constructor(world: World, say: (line: string) => void) {
    this.#world = world
    this.#say = say
  }

  /** Those that stand by, or start. */
  get others(): ReadonlyArray<EngineProcess> {
    return [...this.#processes.values()].filter(({ pid }) => pid !== this.#world.engine.pid)
  }

  /** What each engine does, by its name. */
  get states(): ReadonlyMap<string, "dials" | "stands by" | "starts"> {
    const { pid } = this.#world.engine
    const stateOf = (engine: EngineProcess) => {
      if (engine.pid === pid) return "dials"
      return engine.output().includes("stands by") ? "stands by" : "starts"
    }
    return new Map([...this.#processes].map(([name, engine]) => [name, stateOf(engine)]))
  }

  /** Resolves when another engine than this one dials. */
  async untilReplaced(pid: number | undefined): Promise<void> {
    await untilTrue("engine that takes over", () => this.#world.engine.pid !== pid)
  }

  #spawn(name: string): void {
    const { dataDir, environment } = this.#world
    const own = name === "journey" ? {} : { DATA_DIR: join(dataDir, name), NODE_NAME: name }
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
