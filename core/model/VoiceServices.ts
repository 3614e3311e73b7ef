/** The kinds of speech and language services, and the voices that are built into the engine. */

export const serviceKinds = ["llm", "tts", "stt", "embeddings", "realtime"] as const
export type ServiceKind = (typeof serviceKinds)[number]
/** Includes a kind that organizations do not configure: the end-of-turn model, which an agent chooses for itself. */
export type RegisteredKind = ServiceKind | "end_of_turn"

/** Flite's voices. All speak US English, except `awb`, whose English is Scottish. */
export const fliteVoices = ["slt", "rms", "awb", "kal16", "kal"] as const
export type FliteVoice = (typeof fliteVoices)[number]

/** The voice of agents that choose none. */
export const offlineVoice = { engine: "flite", voice: "slt" } as const
