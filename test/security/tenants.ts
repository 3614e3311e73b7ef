/** Organizations beside the first one, as sign-ups create them. */
import { createHash } from "node:crypto"
import { Api, type World } from "#test/support/engine.ts"

interface Tenant {
  readonly id: number
  readonly api: Api
  /** The API with a role of its own. */
  readonly as: (role: "viewer" | "member" | "admin") => Promise<Api>
}

let made = 0

const keyOf = async (world: World, organizationId: number, role: string): Promise<Api> => {
  const key = `tenant-key-${++made}-0123456789abcdef`
  const hash = createHash("sha256").update(key).digest("hex")
  await world.sql`
    INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role)
    VALUES (${organizationId}, ${key}, ${key.slice(0, 8)}, ${hash}, ${role})`
  return new Api(world.engine.url, key)
}

export const tenant = async (world: World): Promise<Tenant> => {
  const [row] = await world.sql<Array<{ readonly id: number }>>`
    INSERT INTO organizations (name, concurrency_limit) VALUES ('another', 10) RETURNING id`
  const id = row?.id ?? 0
  return { id, api: await keyOf(world, id, "owner"), as: (role) => keyOf(world, id, role) }
}

/** Another user of the first organization. */
export const colleague = async (world: World, role: "viewer" | "member" | "admin"): Promise<Api> => {
  const [row] = await world.sql<Array<{ readonly id: number }>>`SELECT min(id)::int AS id FROM organizations`
  return keyOf(world, row?.id ?? 0, role)
}
