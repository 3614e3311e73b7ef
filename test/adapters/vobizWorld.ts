/** A trunk of Vobiz' adapter and the emulated Vobiz behind it. */
import type { Test } from "tap"
import vobiz from "#adapters/vobiz/vobiz.ts"
import { account, startVobizEmulator } from "#test/emulators/vobiz/VobizEmulator.ts"
import { OUR_NUMBER } from "./hosted.ts"
import { openDialect } from "./plivoDialect.ts"

type Options = Partial<Parameters<typeof startVobizEmulator>[0]>

export const config = { auth_id: account.authId, auth_token: account.authToken }

export const start = (options: Options = {}) =>
  startVobizEmulator({ numbers: [OUR_NUMBER], callsPerSecond: Number.POSITIVE_INFINITY, ...options })

export const openWorld = async (t: Test, options: Options = {}) => openDialect(t, vobiz, await start(options), config)
