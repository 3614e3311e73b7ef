/** The built-in speech and language services that need nothing to be installed. */
import type { AnyServiceProvider } from "#core/model/ServiceRegistry.ts"
import { anthropic } from "./voice/anthropic/anthropic.ts"
import { deepgram } from "./voice/deepgram/deepgram.ts"
import { embedded } from "./voice/embedded/embedded.ts"
import { google } from "./voice/google/google.ts"
import { namedServers } from "./voice/openai/named.ts"
import { openai } from "./voice/openai/openai.ts"
import { rules } from "./voice/rules/rules.ts"

export const builtInServices: ReadonlyArray<AnyServiceProvider> = [anthropic, deepgram, embedded, google, openai, rules, ...namedServers]
