/** Registers the handler of an endpoint with uWebSockets. */
import type * as uws from "uWebSockets.js"
import type { Method } from "./Endpoint.ts"
import type { Place } from "./routing.ts"

export type Handler = (res: uws.HttpResponse, req: uws.HttpRequest) => void
type Register = (pattern: string, handler: Handler) => unknown

export const register = (app: uws.TemplatedApp, { method, path }: Place, handler: Handler): void => {
  const methods: { readonly [Name in Method]: Register } = {
    get: (pattern, handle) => app.get(pattern, handle),
    post: (pattern, handle) => app.post(pattern, handle),
    put: (pattern, handle) => app.put(pattern, handle),
    patch: (pattern, handle) => app.patch(pattern, handle),
    delete: (pattern, handle) => app.del(pattern, handle)
  }
  methods[method](path, handler)
}
