/** Everything that the emulator serves under /ari except events, audio and its API documents. */
import { channelRoutes } from "./channelRoutes.ts"
import { externalMediaRoutes } from "./externalMediaRoutes.ts"
import type { Route } from "./Route.ts"
import { systemRoutes } from "./systemRoutes.ts"

export const routes: ReadonlyArray<Route> = [...channelRoutes, ...externalMediaRoutes, ...systemRoutes]
