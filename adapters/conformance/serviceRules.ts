/** What every service does alike that asks another one over the network, whatever it is asked for. */
import { type Egress, refusedCode, refusedWords } from "#core/egress/Egress.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"

type Config = Readonly<Record<string, unknown>>

interface ServiceWorld {
  readonly egress: Egress
  /** Says what the service does next; left out for those that ask nobody. */
  readonly script?: unknown
  /** With a key that the service refuses. */
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

/** `ask` has it do its work once. `told`: words that it is given for that, which no error may repeat. */
export const serviceRules = <Scene extends { readonly world: ServiceWorld }>(
  what: "model" | "voice",
  told: string,
  ask: (scene: Scene, config?: Config) => Promise<{ readonly error: ModelError | undefined }>
): ReadonlyArray<ServiceRule<Scene>> => [
  {
    name: "error: a refused key is told as one, without the key and what was said",
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
    name: "egress: it connects to nothing that it may not",
    holds: async (scene) => {
      if (scene.world.script === undefined) throw new NotAsked(`the ${what} connects to nothing`)
      const { error } = await ask({ ...scene, world: { ...scene.world, egress: none } })
      const isFinal = error !== undefined && !error.isRetryable
      const why = "tenants choose the address, and must not reach the operator's network"
      demand(isFinal, "an error that is final", () => inWords(error), why)
    }
  }
]
