/** Single calls as patient clients place them. */
import type { World } from "./engine.ts"
import { until } from "./until.ts"

/**
 * Places a call to each number at once, and again for as long as the reply says that nothing was sent, and to try again: on a busy machine, a
 * request may not leave in time. Any other refusal is an error.
 */
export const placeAll = ({ agentUuid: usual, api }: World, numbers: ReadonlyArray<string>, agentUuid = usual): Promise<unknown> =>
  Promise.all(
    numbers.map((number) =>
      until("a call that is placed", async () => {
        const { body, status } = await api.call(agentUuid, number)
        if (status === 200) return true
        const said = JSON.stringify(body)
        if (!said.includes("try again in")) throw new Error(`a single call: ${status} ${said}`)
        return undefined
      })
    )
  )
