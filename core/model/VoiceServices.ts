/** The speech and language services of this engine, by kind and provider name. */

export const serviceKinds = ["llm", "tts", "stt", "embeddings", "realtime"] as const
export type ServiceKind = (typeof serviceKinds)[number]

export interface ServiceProvider {
  readonly title: string
  readonly description: string
  /** An empty list means that there is no choice. */
  readonly voices: ReadonlyArray<string>
}

/** The voice of every agent. */
export const offlineVoice = { engine: "flite", voice: "slt" } as const

/** Can be selected in place of a model, so that a form that requires one can be saved. */
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
