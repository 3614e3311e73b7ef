/** The speech and language services that this engine has, by their kind and the provider's name. */

export const serviceKinds = ["llm", "tts", "stt", "embeddings", "realtime"] as const
export type ServiceKind = (typeof serviceKinds)[number]

export interface ServiceProvider {
  readonly title: string
  readonly description: string
  /** None: there is nothing to choose. */
  readonly voices: ReadonlyArray<string>
}

/** The voice with which every agent speaks. */
export const offlineVoice = { engine: "flite", voice: "slt" } as const

/** What can be set up in the place of a model, so that a form that asks for one can be saved. */
const noModel = {
  none: { title: "None", description: "No model: agents say their greeting, and record what is answered.", voices: [] }
} as const

export const voiceServices: { readonly [Kind in ServiceKind]: Readonly<Record<string, ServiceProvider>> } = {
  llm: noModel,
  tts: {
    [offlineVoice.engine]: {
      title: "Flite",
      description: "Speech made by the engine itself, offline and without a key. US English.",
      voices: [offlineVoice.voice]
    }
  },
  stt: noModel,
  embeddings: {},
  realtime: {}
}
