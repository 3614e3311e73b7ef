/** All that the emulator serves under /ari, but for events, audio and its own documents. */
import { channelRoutes } from "./channelRoutes.ts"
import { externalMediaRoutes } from "./externalMediaRoutes.ts"
import type { Route } from "./Route.ts"
import { systemRoutes } from "./systemRoutes.ts"

export const routes: ReadonlyArray<Route> = [...channelRoutes, ...externalMediaRoutes, ...systemRoutes]
