import { Context, Effect, Layer } from "effect"
import t from "tap"
import { IsHeavy } from "#core/load/HeavyWork.ts"
import { OrganizationId } from "#core/Id.ts"
import { CurrentAddress, CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { asEngine } from "#runtime/postgres/asEngine.ts"
import { run } from "#test/support/run.ts"

class Port extends Context.Service<Port, { readonly seen: () => Effect.Effect<ReadonlyArray<unknown>> }>()("test/Port") {}

t.test("given work that a request starts, then it inherits nothing from the request: no organization, no address, no lane", async (t) => {
  const port = Layer.succeed(Port, {
    seen: () =>
      Effect.withFiber((fiber) => Effect.succeed([fiber.getRef(CurrentTenant), fiber.getRef(CurrentAddress), fiber.getRef(IsHeavy)]))
  })
  const request = Port.use(({ seen }) => seen()).pipe(
    Effect.provideService(CurrentTenant, OrganizationId.make(7)),
    Effect.provideService(CurrentAddress, "192.0.2.1"),
    Effect.provideService(IsHeavy, true)
  )
  t.strictSame(await run(Effect.provide(request, asEngine(Port, port))), [undefined, undefined, false])
})
