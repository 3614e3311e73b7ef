import type { World } from "./engine.ts"
import { untilTrue } from "./until.ts"

/** Resolves when a trunk of the engine is up. Before that, an answered call would have nobody to talk to. */
export const untilTrunkUp = ({ api }: World): Promise<true> =>
  untilTrue("trunk that is up", async () => {
    const { body } = await api.ask("GET", "/organizations/telephony-trunks")
    return JSON.stringify(body).includes('"status":"up"')
  })
