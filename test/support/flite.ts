/** The engine's own voices, as an engine has them. */
import { Layer } from "effect"
import { type FliteOptions, FliteVoices } from "#runtime/voice/FliteVoices.ts"
import * as SpokenTts from "#runtime/voice/SpokenTts.ts"

export const fliteLayer = (options: FliteOptions = {}) => SpokenTts.layer().pipe(Layer.provideMerge(FliteVoices.layer(options)))
