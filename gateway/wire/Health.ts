/** What the service says of itself, to anybody. */
import Type from "typebox"
import { id, nullable } from "./Field.ts"
import type { TelephonyConfigId } from "#core/Id.ts"

export const HealthWire = Type.Object(
  {
    status: Type.Literal("ok"),
    version: Type.String(),
    backend_api_endpoint: Type.String(),
    deployment_mode: Type.Literal("oss"),
    auth_provider: Type.Literal("local")
  },
  { title: "Health" }
)

export const ReadyWire = Type.Object(
  {
    status: Type.Literal("ready"),
    postgres: Type.Literal("up"),
    trunks: Type.Array(
      Type.Object(
        {
          telephony_configuration_id: id<TelephonyConfigId>(),
          provider: Type.String(),
          status: Type.Enum(["up", "down"]),
          reason: nullable(Type.String())
        },
        { title: "TrunkReadiness" }
      )
    )
  },
  { title: "Ready" }
)
