/** The ports on which a server listens, one after another. */
import { Effect, Schedule, type Scope } from "effect"
import * as uws from "uWebSockets.js"
import { listen, type ListenFailed, localPort } from "./listening.ts"

const TRY_AGAIN = "1 second"

interface Place {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Whether any free port will do while this one is taken. */
  readonly mayWait?: boolean
}

interface Doors {
  /** Where it began to listen. */
  readonly port: number
  /** Listens on the wanted port as well, as soon as that is free. Returns that port if it is so now, otherwise the other one. */
  readonly arrive: Effect.Effect<number>
  /** Goes on at another port, which it returns, and frees the others. */
  readonly move: Effect.Effect<number, ListenFailed>
  readonly shut: () => void
}

export const openDoors = (app: uws.TemplatedApp, { host, mayWait = false, port }: Place): Effect.Effect<Doors, ListenFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const anywhere = { host, port: 0 }
    const wanted = { host, port }
    const first = yield* mayWait ? Effect.catch(listen(app, wanted), () => listen(app, anywhere)) : listen(app, wanted)
    const own = localPort(first)
    let open: ReadonlyArray<uws.us_listen_socket> | undefined = [first]
    let isWanted = port === 0 || own === port
    const shut = () => {
      for (const socket of open ?? []) uws.us_listen_socket_close(socket)
      open = undefined
    }
    const add = Effect.flatMap(Effect.exit(listen(app, wanted)), (socket) =>
      Effect.sync(() => {
        if (socket._tag === "Failure") return false
        if (open === undefined) uws.us_listen_socket_close(socket.value)
        else open = [...open, socket.value]
        return (isWanted = true)
      })
    )
    const later = Effect.andThen(
      Effect.logWarning("the port of the API is taken: until it is free, the API is at another one").pipe(
        Effect.annotateLogs({ at: own, port })
      ),
      Effect.repeat(add, { schedule: Schedule.spaced(TRY_AGAIN), until: (isDone) => isDone || open === undefined })
    )
    return {
      port: own,
      shut,
      arrive: Effect.gen(function* () {
        if (isWanted) return port === 0 ? own : port
        if (yield* add) return port
        yield* Effect.forkIn(later, scope)
        return own
      }),
      move: Effect.gen(function* () {
        const next = yield* listen(app, anywhere)
        shut()
        open = [next]
        return localPort(next)
      })
    }
  })
