/** When a trunk could not be reached. */
import Type, { type Static } from "typebox"
import type { Outage } from "#core/telephony/pastOutages.ts"
import { instant, nullable } from "#gateway/request/Field.ts"

const TrunkOutageWire = Type.Object(
  {
    began_at: instant(),
    ended_at: nullable(instant("Null while it lasts.")),
    endpoint: nullable(
      Type.String({ description: "The endpoint that could not be reached, of a trunk that has several. Null: none could." })
    ),
    reason: nullable(Type.String({ description: "Null if the engine was not running when it began." })),
    calls_cut: nullable(Type.Integer({ minimum: 0, description: "Calls that ended by it. Null until all calls of that time are settled." }))
  },
  { title: "TrunkOutage" }
)
export const TrunkOutageList = Type.Object({ outages: Type.Array(TrunkOutageWire) }, { title: "TrunkOutageList" })

export const trunkOutageList = (outages: ReadonlyArray<Outage>): Static<typeof TrunkOutageList> => ({
  outages: outages.map(({ beganAt, callsCut, endedAt, endpoint, reason }) => ({
    began_at: new Date(beganAt).toISOString(),
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
    endpoint,
    reason,
    calls_cut: callsCut
  }))
})
