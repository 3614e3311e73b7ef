/** `npm run talk -- --voice`: a conversation with the services of an engine on this machine. */
import { Effect, Layer, References } from "effect"
import type { ChosenServices } from "#core/model/AgentServices.ts"
import { none, ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { host, WrongUse } from "./agentCommand.ts"
import { hintsWith } from "./call/plannedTalk.ts"
import { Config } from "./config/config.ts"
import * as plugins from "./plugins.ts"
import { spokenTalk } from "./terminal/spokenTalk.ts"
import { FliteVoices } from "./voice/FliteVoices.ts"

const services = plugins.layer.pipe(Layer.provideMerge(FliteVoices.layer()), Layer.provide(Config.layer))
const whileFetched = "1 second"

/** The recognizer that an engine on this machine uses by default, once it is there. */
const recognizerHere = Effect.fnUntraced(function* (write: (line: string) => void) {
  const registry = yield* ServiceRegistry
  const provider = registry.find("stt", registry.defaults.stt)
  const why = provider?.unready?.()
  if (why !== undefined) write(`${why}: waiting for it`)
  while (provider?.unready?.() !== undefined) yield* Effect.sleep(whileFetched)
  if (provider === undefined || provider.manifest.provider === none)
    return yield* Effect.die(new WrongUse("Nobody can be heard: HEARING is off, and PocketSphinx is not installed"))
  return provider.recognizer({}, host)
})

interface Spoken extends Omit<Parameters<typeof spokenTalk>[0], "hearing" | "hintsAt"> {
  readonly expected: ChosenServices["expected"]
}
/** Returns what has been gathered. */
export const talkAloud = ({ expected, ...given }: Spoken) =>
  Effect.gen(function* () {
    const hintsAt = hintsWith({}, { expected, language: "en-US" })
    return yield* spokenTalk({ ...given, hintsAt, hearing: yield* recognizerHere(given.write) })
  }).pipe(Effect.provide(services), Effect.provideService(References.MinimumLogLevel, "Warn"))
