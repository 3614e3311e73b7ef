/** A trunk of Plivo's adapter and the emulated Plivo behind it. */
import type { Test } from "tap"
import plivo from "#adapters/plivo/plivo.ts"
import { account, startPlivoEmulator } from "#test/emulators/plivo/PlivoEmulator.ts"
import type { DialectOptions } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openDialect } from "./plivoDialect.ts"

export const config = { auth_id: account.authId, auth_token: account.authToken }

export const start = (options: Partial<DialectOptions> = {}) =>
  startPlivoEmulator({ numbers: [OUR_NUMBER], callsPerSecond: Number.POSITIVE_INFINITY, ...options })

export const openWorld = async (t: Test, options: Partial<DialectOptions> = {}) => openDialect(t, plivo, await start(options), config)
