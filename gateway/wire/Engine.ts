/** `/organizations/engines`: the engines that share the database. */
import Type, { type Static } from "typebox"
import { engineRoles, type EngineSeen } from "#core/node/Engines.ts"
import { instant, nullable } from "#gateway/request/Field.ts"

const EngineWire = Type.Object(
  {
    name: Type.String({ description: "The operator's name for it." }),
    version: nullable(Type.String({ description: "Known of the engine that decides only." })),
    role: Type.Enum([...engineRoles], {
      description:
        "`decider`: it decides what is dialed. `carrier`: it carries calls that the decider places. `leaving`: it ends with its last call."
    }),
    is_decider: Type.Boolean(),
    since: instant("When it took this role."),
    calls: Type.Integer({ description: "Calls of the organization that are being placed through it, or up on it." })
  },
  { title: "Engine" }
)

export const EngineList = Type.Object(
  { engines: Type.Array(EngineWire, { description: "The one that decides first." }) },
  { title: "EngineList" }
)

/** `version`: that of the engine that answers, which is the one that decides. */
export const engineList = (engines: ReadonlyArray<EngineSeen>, version: string): Static<typeof EngineList> => ({
  engines: engines.map(({ calls, name, role, since }) => ({
    ...{ name, role, calls, since: since.toISOString() },
    version: role === "decider" ? version : null,
    is_decider: role === "decider"
  }))
})
