/** The engine's own voices, set up as in an engine. */
import { Layer } from "effect"
import { type FliteOptions, FliteVoices } from "#runtime/voice/FliteVoices.ts"
import * as SpokenTts from "#runtime/voice/SpokenTts.ts"

export const fliteLayer = (options: FliteOptions = {}) => SpokenTts.layer().pipe(Layer.provideMerge(FliteVoices.layer(options)))
