/**
 * A slow or unreliable path to Postgres: a `TcpProxy` that knows enough of the wire protocol to recognize the replies to commits. Without TLS.
 */
import { type Inspector, type Passage, TcpProxy } from "./TcpProxy.ts"

export interface PostgresProxy {
  readonly tcp: TcpProxy
  /** The database's URL through the proxy. */
  readonly url: string
  /**
   * Delays the replies to commits, as a slow disk or a synchronous replica does. Commits that do not wait for the disk, because of
   * `set_config('synchronous_commit', 'off', ...)`, are not delayed.
   */
  delayCommits(millis: number): void
  /** Cuts the connections of the next `count` commits: `reply` once the server has committed, `request` before it has received all of it. */
  loseCommits(which: "reply" | "request", count: number): void
  /** How many commits were answered, delayed or lost. */
  readonly commits: () => number
  stop(): Promise<void>
}

const cancelOrTls = [80877102, 80877103, 80877104]
const writes = /\b(insert|update|delete|merge|truncate|create|alter|drop)\b/i
const waitsForNoDisk = /set_config\('synchronous_commit', 'off'/i
const rollsBack = /^\s*rollback/i

/** Splits a stream into whole messages. */
export class Messages {
  #rest: Buffer = Buffer.alloc(0)
  /** False only before a client's first message, which has no type. */
  #isTyped: boolean

  constructor(isTyped: boolean) {
    this.#isTyped = isTyped
  }

  *of(chunk: Buffer): Generator<{ readonly type: string; readonly body: Buffer; readonly whole: Buffer }> {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (true) {
      const start = this.#isTyped ? 1 : 0
      if (this.#rest.length < start + 4) return
      const end = start + this.#rest.readInt32BE(start)
      if (this.#rest.length < end) return
      const whole = this.#rest.subarray(0, end)
      const message = { type: whole.toString("latin1", 0, start), body: whole.subarray(start + 4), whole }
      this.#rest = this.#rest.subarray(end)
      if (!this.#isTyped) this.#isTyped = !cancelOrTls.includes(message.body.readInt32BE(0))
      yield message
    }
  }
}

const stringsIn = (body: Buffer, count: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let at = 0; found.length < count; ) {
    const end = body.indexOf(0, at)
    found.push(body.toString("utf8", at, end))
    at = end + 1
  }
  return found
}

type Effect = "reads" | "writes" | "rolls back"
const effectOf = (statement: string): Effect => {
  if (rollsBack.test(statement)) return "rolls back"
  return writes.test(statement) && !waitsForNoDisk.test(statement) ? "writes" : "reads"
}

interface Faults {
  delayMillis: number
  lost: "reply" | "request"
  lostLeft: number
  commits: number
}

const inspectorOf = (faults: Faults): Inspector => {
  const asked = new Messages(false)
  const told = new Messages(true)
  const prepared = new Map<string, Effect>()
  let cycle: Effect = "reads"
  /** The effect of the statements up to each `ReadyForQuery` that is still to come. */
  const cycles: Array<Effect> = []
  let transactionWrites = false
  let isReplyLess = true

  const add = (effect: Effect) => {
    if (effect !== "reads") cycle = effect
  }
  const ask = (type: string, body: Buffer) => {
    if (type === "P") {
      const [name = "", statement = ""] = stringsIn(body, 2)
      prepared.set(name, effectOf(statement))
    }
    if (type === "B") add(prepared.get(stringsIn(body, 2)[1] ?? "") ?? "reads")
    if (type === "Q") add(effectOf(stringsIn(body, 1)[0] ?? ""))
    if (type !== "Q" && type !== "S") return
    cycles.push(cycle)
    cycle = "reads"
  }
  /** Whether this `ReadyForQuery` reports a commit. */
  const isCommit = (transactionState: string): boolean => {
    const effect = cycles.shift() ?? "reads"
    if (effect === "rolls back") transactionWrites = false
    if (effect === "writes") transactionWrites = true
    if (transactionState !== "I") return false
    const committed = transactionWrites
    transactionWrites = false
    return committed
  }
  const lose = (which: Faults["lost"]): boolean => {
    if (faults.lost !== which || faults.lostLeft <= 0) return false
    faults.lostLeft -= 1
    return true
  }

  return {
    fromClient: (chunk) => {
      const before = cycles.length
      for (const { body, type } of asked.of(chunk)) ask(type, body)
      return cycles.slice(before).includes("writes") && lose("request") ? "cut" : 0
    },
    fromServer: (chunk) => {
      // The answer to a TLS request is one byte, not a message.
      if (isReplyLess && chunk.length === 1) return 0
      isReplyLess = false
      let passage: Passage = 0
      for (const { body, type } of told.of(chunk)) {
        if (type !== "Z" || (cycles.length === 0 && !transactionWrites)) continue
        if (!isCommit(body.toString("latin1", 0, 1))) continue
        faults.commits += 1
        passage = lose("reply") ? "cut" : faults.delayMillis
        if (passage === "cut") break
      }
      return passage
    }
  }
}

export const startPostgresProxy = async (databaseUrl: string): Promise<PostgresProxy> => {
  const faults: Faults = { delayMillis: 0, lost: "reply", lostLeft: 0, commits: 0 }
  const url = new URL(databaseUrl)
  const tcp = await TcpProxy.start({ host: url.hostname, port: Number(url.port || 5432) }, () => inspectorOf(faults))
  url.hostname = "127.0.0.1"
  url.port = String(tcp.port)
  return {
    tcp,
    url: url.href,
    commits: () => faults.commits,
    delayCommits: (millis) => {
      faults.delayMillis = millis
    },
    loseCommits: (which, count) => {
      faults.lost = which
      faults.lostLeft = count
    },
    stop: () => tcp.stop()
  }
}
