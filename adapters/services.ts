/** The built-in speech and language services that need nothing to be installed. */
import type { AnyServiceProvider, UsualProviders } from "#core/model/ServiceRegistry.ts"
import { anthropic } from "./voice/anthropic/anthropic.ts"
import { cartesiaWith } from "./voice/cartesia/cartesia.ts"
import { ink } from "./voice/cartesia/ink.ts"
import { auraWith } from "./voice/deepgram/aura.ts"
import { deepgramWith } from "./voice/deepgram/deepgram.ts"
import { elevenlabsWith } from "./voice/elevenlabs/elevenlabs.ts"
import { scribeWith } from "./voice/elevenlabs/scribe.ts"
import { embedded } from "./voice/embedded/embedded.ts"
import { google } from "./voice/google/google.ts"
import { namedServers } from "./voice/openai/named.ts"
import { openai } from "./voice/openai/openai.ts"
import { openaiVoices } from "./voice/openai/speech.ts"
import { openaiRecognizers } from "./voice/openai/transcription.ts"
import { rules } from "./voice/rules/rules.ts"

const models = [anthropic, embedded, google, openai, ...namedServers]
const voices = [auraWith(), cartesiaWith(), elevenlabsWith(), ...openaiVoices()]
const recognizers = [deepgramWith(), ink, scribeWith(), ...openaiRecognizers()]

/** For agents that choose none. They need no key. */
export const usualServices: UsualProviders = { llm: ["embedded"], stt: ["moonshine", "pocketsphinx"], tts: ["flite"] }

export const builtInServices: ReadonlyArray<AnyServiceProvider> = [...models, ...recognizers, rules, ...voices]
