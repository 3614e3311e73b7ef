/** Rules for every service that calls another one over the network, whatever its kind. */
import { type Egress, refusedCode, refusedWords } from "#core/egress/Egress.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"

type Config = Readonly<Record<string, unknown>>

interface ServiceWorld {
  readonly egress: Egress
  /** Sets what the service does next; left out for providers that call no service. */
  readonly script?: unknown
  /** The configuration with a key that the service refuses. */
  readonly wrongConfig?: Config
}

interface ServiceRule<Scene> {
  readonly name: string
  readonly holds: (scene: Scene) => Promise<void>
}

const none: Egress = {
  refuses: () => true,
  lookup: () => (_, __, done) => done(Object.assign(new Error(refusedWords), { code: refusedCode }), []),
  maySendTo: () => false
}

/** `ask` makes the service do its work once. `told`: the words that it is given for that, which no error may repeat. */
export const serviceRules = <Scene extends { readonly world: ServiceWorld }>(
  what: "model" | "voice",
  told: string,
  ask: (scene: Scene, config?: Config) => Promise<{ readonly error: ModelError | undefined }>
): ReadonlyArray<ServiceRule<Scene>> => [
  {
    name: "error: a refused key is reported as such, without the key and what was said",
    holds: async (scene) => {
      const { wrongConfig } = scene.world
      if (wrongConfig === undefined) throw new NotAsked(`the ${what} has no key`)
      const { error } = await ask(scene, wrongConfig)
      const isForKey = error?.reason === "auth" && !error.isRetryable
      demand(isForKey, "an error for the key", () => inWords(error), "only the operator can correct it")
      const secrets = Object.values(wrongConfig).filter((value) => typeof value === "string" && value.length > 8)
      const isKept = [told, ...secrets].every((secret) => error?.message.includes(String(secret)) === false)
      demand(isKept, "an error without secrets", () => "one of them in it", "errors are logged and shown")
    }
  },
  {
    name: "egress: it connects to no address that is forbidden",
    holds: async (scene) => {
      if (scene.world.script === undefined) throw new NotAsked(`the ${what} connects to nothing`)
      const { error } = await ask({ ...scene, world: { ...scene.world, egress: none } })
      const isFinal = error !== undefined && !error.isRetryable
      const why = "tenants choose the address, and must not reach the operator's network"
      demand(isFinal, "an error that is final", () => inWords(error), why)
    }
  }
]
