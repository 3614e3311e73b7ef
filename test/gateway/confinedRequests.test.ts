/** Each request works for its caller's organization, which is what row-level security goes by, and one without a caller for none. */
import { Effect, Stream } from "effect"
import t from "tap"
import Type from "typebox"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { download, route } from "#gateway/request/Route.ts"
import { send, serving } from "./gatewayTest.ts"

const common = { method: "get", name: "x", summary: "", description: "" } as const
/** As the stores see it, after a wait for the database. */
const tenant = Effect.andThen(Effect.yieldNow, CurrentTenant)
const Tenant = Type.Object({ tenant: Type.Union([Type.Integer(), Type.Null()]) })
const told = Effect.map(tenant, (id) => ({ tenant: id ?? null }))

const own = route({ ...common, path: "/own", success: Tenant, handle: () => told })
const open = route({ ...common, path: "/open", access: "none", success: Tenant, handle: () => told })
const file = download({
  ...common,
  path: "/file",
  mediaTypes: ["text/plain"],
  handle: () => Effect.succeed({ mediaType: "text/plain", body: Stream.fromEffect(Effect.map(tenant, (id) => Buffer.from(String(id)))) })
})

t.test("given routes that tell for which organization they work", async (t) => {
  const gateway = await serving(t, [own, open, file])

  t.test("when a caller is known, then it is the caller's", async (t) => {
    t.strictSame((await send(gateway, "GET", "/own")).json, { tenant: 7 })
  })

  t.test("when a file is streamed, then it is the caller's up to the last byte", async (t) => {
    t.equal((await send(gateway, "GET", "/file")).text, "7")
  })

  t.test("when no credential is needed, then it is none, even if one is sent", async (t) => {
    t.strictSame((await send(gateway, "GET", "/open")).json, { tenant: null })
  })
})
