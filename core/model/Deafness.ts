/** Whether agents can hear: a recognizer on this machine may not be there yet, or at all. */
import { Context, Effect, Layer } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { OrganizationModels } from "./OrganizationModels.ts"
import { choiceOf } from "./ServiceChoice.ts"
import { none, ServiceRegistry } from "./ServiceRegistry.ts"

/**
 * Why an agent with these configurations of its version cannot hear at present. Undefined if it can, for all that is known, or if its organization, its
 * author or the operator has chosen that it hears nothing.
 */
type Deaf = (organizationId: OrganizationId, configurations: JsonObject) => Effect.Effect<string | undefined>

export const Deafness = Context.Reference<Deaf>("core/model/Deafness", { defaultValue: () => () => Effect.undefined })

export const layer = Layer.effect(
  Deafness,
  Effect.gen(function* () {
    const registry = yield* ServiceRegistry
    const organizations = yield* OrganizationModels
    const deaf: Deaf = Effect.fnUntraced(function* (organizationId, configurations) {
      const { llm, stt } = choiceOf(registry, yield* organizations.get(organizationId), configurations)
      const { provider } = stt
      if (llm["provider"] === none || typeof provider !== "string") return undefined
      return registry.find("stt", provider)?.unready?.()
    })
    return deaf
  })
).pipe(Layer.provide(OrganizationModels.layer))
