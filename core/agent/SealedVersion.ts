/** Agent versions as the database stores them: documents without their secrets, which are sealed beside them. */
import { Effect } from "effect"
import { type Place, Sealer, type Seals } from "#core/Sealer.ts"
import type { AgentContent, AgentVersion } from "./Agent.ts"
import { putTogether, type SecretPart, takenApart, unwritten, type WrittenPart, written } from "./SecretParts.ts"

interface StoredContent extends AgentContent {
  /** Sealed; empty when the documents hold no secrets, null when they have not been searched for any yet. */
  readonly secrets: string | null
}

type Version = Pick<AgentVersion, "definitionId" | "organizationId">

const placeOf = ({ definitionId, organizationId }: Version): Place => ({ of: "agent_definitions", organizationId, id: definitionId })

/** Opens the secrets. Each path starts with the name of its document. */
export const secretsIn = (sealer: Seals, version: Version, secrets: string | null): ReadonlyArray<SecretPart> =>
  // The cast holds because `sealed` below wrote a list of parts.
  secrets === null || secrets === "" ? [] : unwritten(JSON.parse(sealer.open(placeOf(version), secrets)) as ReadonlyArray<WrittenPart>)

/** A row with content as the database stores it. */
export type Stored<Row extends AgentContent> = Omit<Row, keyof AgentContent> & StoredContent

/** Puts the secrets back into the rows, which are modified in place. */
export const openedRows = <Row extends Version & StoredContent, E, R>(rows: Effect.Effect<ReadonlyArray<Row>, E, R>) =>
  Effect.gen(function* () {
    const sealer = yield* Sealer
    return (yield* rows).map(({ secrets, ...version }) => putTogether(version, secretsIn(sealer, version, secrets)))
  })

export const sealed = (sealer: Seals, version: Version, content: AgentContent): StoredContent => {
  const { configurations, definition, templateContextVariables } = content
  const { rest, secrets } = takenApart({ configurations, definition, templateContextVariables })
  return { ...rest, secrets: secrets.length === 0 ? "" : sealer.seal(placeOf(version), JSON.stringify(written(secrets))) }
}

/** The secrets of one node of the definition, with paths relative to that node. */
export const ofNode = (secrets: ReadonlyArray<SecretPart>, index: number): ReadonlyArray<SecretPart> =>
  secrets.flatMap(({ at, value }) => {
    const [document, list, place, ...rest] = at
    return document === "definition" && list === "nodes" && place === index ? [{ at: rest, value }] : []
  })
