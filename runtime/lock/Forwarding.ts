/**
 * Forwards each connection to the engine that decides, while this one does not serve the API: because it is leaving, and serves only its calls, at
 * another port; or because it waits for an engine of the same name to end. Clients, carriers and their media sockets may still come here. It forwards
 * bytes, so the other engine sees this one's address as the client's, unless a proxy in front names the client.
 */
import { Effect, Scope } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { pipeline } from "node:stream"
import type { EnginePlace } from "./EnginePlace.ts"

/** An engine on the same network accepts a connection within milliseconds; one on a dead machine never does. */
const CONNECT_MILLIS = 2000
/** How long a refused client may take to close its connection. */
const REFUSED_MILLIS = 2000

const nobody = '{"detail":"No engine is in charge at the moment: try again"}'
const refusal = [
  "HTTP/1.1 503 Service Unavailable",
  "content-type: application/json",
  `content-length: ${Buffer.byteLength(nobody)}`,
  "retry-after: 1",
  "connection: close",
  "",
  nobody
].join("\r\n")

/** Listens until the scope closes, which cuts open connections. Fails if it cannot listen there. */
const forwarding = ({ host, port }: EnginePlace): Effect.Effect<Forwarder, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Forwarder, Error>((resume) => {
      const forwarder = new Forwarder()
      forwarder.server.once("error", (error) => resume(Effect.fail(error)))
      forwarder.server.listen({ exclusive: true, host, port }, () => resume(Effect.succeed(forwarder)))
    }),
    (forwarder) => forwarder.close
  )

export interface Follower {
  /** `place`: the engine that decides; undefined if none does. */
  readonly follow: (place: EnginePlace | undefined) => Effect.Effect<void>
}

/** Starts listening once another engine does, and forwards to whichever engine decides, until the scope closes. */
export const following = (own: EnginePlace): Effect.Effect<Follower, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    let started: Forwarder | "impossible" | undefined
    const start = Scope.provide(forwarding(own), scope).pipe(
      Effect.flatMap((begun) => Effect.sync(() => void (started = begun))),
      Effect.catch((error) => {
        started = "impossible"
        return Effect.logWarning("this engine does not forward requests: its port is taken").pipe(
          Effect.annotateLogs({ why: error.message })
        )
      })
    )
    return {
      follow: Effect.fnUntraced(function* (place) {
        // With port 0, the system would choose a port that nobody knows.
        if (place !== undefined && started === undefined && own.port !== 0) yield* start
        if (started !== undefined && started !== "impossible") started.leadTo(place)
      })
    }
  })

/** Reads and discards the request; otherwise the connection would never end. */
const refuse = (client: Socket): void => {
  client.resume().end(refusal)
  const late = setTimeout(() => client.destroy(), REFUSED_MILLIS)
  client.once("close", () => clearTimeout(late))
}

class Forwarder {
  readonly server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#pass(client))
  readonly #open = new Set<Socket>()
  #place: EnginePlace | undefined

  /** Where new connections go from now on; undefined: nowhere, because no engine dials. */
  leadTo(place: EnginePlace | undefined): void {
    this.#place = place
  }

  readonly close = Effect.callback<void>((resume) => {
    this.server.close(() => resume(Effect.void))
    for (const socket of this.#open) socket.destroy()
  })

  #pass(client: Socket): void {
    this.#keep(client)
    if (this.#place === undefined) return refuse(client)
    const engine = connect({ ...this.#place, allowHalfOpen: true, noDelay: true })
    this.#keep(engine)
    const late = setTimeout(() => engine.destroy(new Error("no engine there")), CONNECT_MILLIS)
    const isLost = () => {
      clearTimeout(late)
      refuse(client)
    }
    engine.once("error", isLost)
    engine.once("connect", () => {
      clearTimeout(late)
      engine.off("error", isLost)
      pipeline(client, engine, () => engine.destroy())
      pipeline(engine, client, () => client.destroy())
    })
  }

  #keep(socket: Socket): void {
    this.#open.add(socket)
    socket.on("error", () => {})
    socket.once("close", () => this.#open.delete(socket))
  }
}
