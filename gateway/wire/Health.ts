/** What the service reports about itself without authentication. */
import Type, { type Static } from "typebox"
import { id, nullable } from "#gateway/request/Field.ts"
import type { TelephonyConfigId } from "#core/Id.ts"
import type { TelephonyTest } from "#core/telephony/TelephonyTests.ts"
import { TelephonyTestWire, telephonyTestWire } from "./TelephonyTest.ts"
import type { TrunkReadiness } from "#gateway/ports/Readiness.ts"

export const HealthWire = Type.Object(
  {
    status: Type.Literal("ok"),
    version: Type.String(),
    backend_api_endpoint: Type.String(),
    deployment_mode: Type.Literal("oss"),
    auth_provider: Type.Literal("local"),
    signup_enabled: Type.Boolean({ description: "Whether signup is possible at all, with or without an invitation." }),
    turn_enabled: Type.Boolean({ description: "Whether calls from browsers can use a TURN server, see `/api/v1/turn/credentials`." }),
    force_turn_relay: Type.Literal(false),
    tunnel_url: Type.Null({ description: "The engine opens no tunnel to itself." })
  },
  { title: "Health" }
)

export const ReadyWire = Type.Object(
  {
    status: Type.Literal("ready"),
    postgres: Type.Literal("up"),
    redis: Type.Enum(["not_used", "up", "down"], {
      description:
        "`not_used`: without `REDIS_URL`. `down`: engines do not hear each other by it, which keeps no call and no request from working."
    }),
    trunks: Type.Array(Type.Object({ provider: Type.String(), up: Type.Integer(), down: Type.Integer() }, { title: "TrunkCount" }))
  },
  { title: "Ready" }
)

/** Counts the trunks of all organizations together, so that no organization is named. */
export const trunkCounts = (trunks: ReadonlyArray<TrunkReadiness>): Static<typeof ReadyWire>["trunks"] =>
  [...Map.groupBy(trunks, ({ provider }) => provider)].map(([provider, all]) => {
    const up = all.filter(({ isUp }) => isUp).length
    return { provider, up, down: all.length - up }
  })

export const TrunkList = Type.Object(
  {
    trunks: Type.Array(
      Type.Object(
        {
          telephony_configuration_id: id<TelephonyConfigId>(),
          provider: Type.String(),
          status: Type.Enum(["up", "down", "unused"], { description: "`unused`: no call has gone through it since the engine's start." }),
          reason: nullable(Type.String({ description: "Why it is down." })),
          endpoints: Type.Array(
            Type.Object(
              {
                endpoint: Type.String(),
                status: Type.Enum(["up", "down"]),
                reason: nullable(Type.String({ description: "Why it is down, or why calls fail there although it is up." }))
              },
              { title: "TrunkEndpoint" }
            ),
            { description: "The endpoints of a trunk that has several. The trunk is up while one of them is." }
          ),
          last_test: nullable(TelephonyTestWire)
        },
        { title: "Trunk" }
      )
    )
  },
  { title: "TrunkList" }
)

interface Configured {
  readonly id: TelephonyConfigId
  readonly provider: string
}

/** Trunks that are open or have been tested. */
export const trunkList = (
  configs: ReadonlyArray<Configured>,
  trunks: ReadonlyArray<TrunkReadiness>,
  tests: ReadonlyMap<TelephonyConfigId, TelephonyTest>
): Static<typeof TrunkList> => ({
  trunks: configs.flatMap(({ id, provider }) => {
    const trunk = trunks.find(({ telephonyConfigurationId }) => telephonyConfigurationId === id)
    const test = tests.get(id)
    if (trunk === undefined && test === undefined) return []
    return [
      {
        telephony_configuration_id: id,
        provider,
        status: trunk === undefined ? ("unused" as const) : trunk.isUp ? ("up" as const) : ("down" as const),
        reason: trunk?.reason ?? null,
        endpoints: (trunk?.endpoints ?? []).map(({ isUp, name, reason }) => ({
          endpoint: name,
          status: isUp ? ("up" as const) : ("down" as const),
          reason
        })),
        last_test: test === undefined ? null : telephonyTestWire(test)
      }
    ]
  })
})
