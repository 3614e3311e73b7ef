/** Listening on an address and port. */
import { Effect, Schema } from "effect"
import * as uws from "uWebSockets.js"

/** The port is taken, or the address is not this machine's. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", { host: Schema.String, port: Schema.Int }) {
  override get message(): string {
    return `Cannot listen on ${this.host}:${this.port}: the port is taken, or the address is not this machine's`
  }
}

interface Listening {
  listen(host: string, port: number, options: number, done: (socket: uws.us_listen_socket | false) => void): unknown
}
/** Without it, two engines could share a port unnoticed. */
const exclusivePort = 1

export const listen = (app: uws.TemplatedApp, { host, port }: { readonly host: string; readonly port: number }) =>
  Effect.callback<uws.us_listen_socket, ListenFailed>((resume) => {
    // The type declarations lack this overload with both an address and options.
    const listening = app as unknown as Listening
    listening.listen(host, port, exclusivePort, (socket) =>
      resume(socket === false ? Effect.fail(new ListenFailed({ host, port })) : Effect.succeed(socket))
    )
  })

// This function also takes a listen socket, although its declaration does not say so.
export const localPort = (socket: uws.us_listen_socket): number => uws.us_socket_local_port(socket as unknown as uws.us_socket)
