/**
 * Open consoles, in a process of their own. Each follows the events over a connection of its own, and reads again when one comes, as `gateway/console/base/Paced.ts`
 * does: each reader at once, and then no earlier than at the end of the pause in which the answer before came. They have the credential of a browser, in the cookie.
 */
import { Agent, type ClientRequest, get, type IncomingMessage } from "node:http"

export interface Reading {
  /** Below `/api/v1`. */
  readonly path: string
  /** How many parts of the page read it, each on its own. */
  readonly readers: number
  /** Between two readings of one reader. */
  readonly pauseMillis: number
}
/** Closes the consoles that are open, and opens so many; then tells `opened`. */
export interface Asked {
  readonly port: number
  readonly key: string
  readonly consoles: number
  readonly readings: ReadonlyArray<Reading>
}
/** Since the start of the process. */
export interface Counted {
  readonly requests: number
  readonly events: number
}

/** Browsers have six connections to a server, one of which is the stream's. */
const readingConnections = 5

const counted = { requests: 0, events: 0 }

/** Ends the process, and so the benchmark. */
const failed = (why: string): never => {
  throw new Error(why)
}

class Reader {
  readonly #read: (done: () => void) => void
  readonly #pauseMillis: number
  /** As `Paced.ts` has it. */
  readonly #ownMillis: number
  #isRunning = false
  #isWanted = false

  constructor(read: (done: () => void) => void, pauseMillis: number, ownMillis: number) {
    this.#read = read
    this.#pauseMillis = pauseMillis
    this.#ownMillis = ownMillis
  }

  want(): void {
    this.#isWanted = true
    if (!this.#isRunning) this.#run()
  }

  #run(): void {
    this.#isRunning = this.#isWanted
    if (!this.#isWanted) return
    this.#isWanted = false
    const pause = () => (this.#pauseMillis === 0 ? 0 : this.#pauseMillis - (Date.now() % this.#pauseMillis) + this.#ownMillis)
    this.#read(() => setTimeout(() => this.#run(), pause()))
  }
}

class OpenConsole {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: readingConnections })
  readonly #readers: ReadonlyArray<Reader>
  readonly #stream: ClientRequest
  #isOver = false

  /** `index`: which of the open consoles it is. */
  constructor({ key, port, readings }: Asked, index: number, opened: () => void) {
    const ask = (path: string, agent: Agent | false, answered: (response: IncomingMessage) => void) =>
      get({ agent, headers: { cookie: `trunkline=${key}` }, host: "127.0.0.1", path: `/api/v1${path}`, port }, (response) => {
        if (response.statusCode !== 200) failed(`${path} was answered ${response.statusCode}`)
        // Connections are cut off when the console is closed.
        response.on("error", (error) => this.#isOver || failed(`${path}: ${error.message}`))
        answered(response)
      }).on("error", (error) => this.#isOver || failed(`${path}: ${error.message}`))
    const reader = ({ path, pauseMillis }: Reading) =>
      new Reader(
        (done) =>
          ask(path, this.#agent, (response) => {
            response.resume().on("end", () => {
              counted.requests++
              done()
            })
          }),
        pauseMillis,
        index % 100
      )
    this.#readers = readings.flatMap((reading) => Array.from({ length: reading.readers }, () => reader(reading)))
    this.#stream = ask("/events/stream?figures=true", false, (response) => {
      opened()
      this.#want()
      response.setEncoding("utf8").on("data", (text: string) => {
        // Figures have no id.
        const events = text.match(/^id: /gm)?.length ?? 0
        counted.events += events
        if (events > 0) this.#want()
      })
    })
  }

  #want(): void {
    if (this.#isOver) return
    for (const reader of this.#readers) reader.want()
  }

  close(): void {
    this.#isOver = true
    this.#stream.destroy()
    this.#agent.destroy()
  }
}

let open: ReadonlyArray<OpenConsole> = []

const openAll = async (asked: Asked) => {
  for (const one of open) one.close()
  const opened: Array<Promise<void>> = []
  open = Array.from({ length: asked.consoles }, (_, index) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    opened.push(promise)
    return new OpenConsole(asked, index, resolve)
  })
  await Promise.all(opened)
  process.send?.({ opened: open.length })
}

process.on("message", (message: Asked | { readonly count: true }) => {
  if ("count" in message) process.send?.({ counted })
  else void openAll(message)
})
process.on("disconnect", () => process.exit())
process.send?.({ started: true })
