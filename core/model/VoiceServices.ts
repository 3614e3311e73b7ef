/** The kinds of speech and language services, and the voices that the engine has of its own. */

export const serviceKinds = ["llm", "tts", "stt", "embeddings", "realtime"] as const
export type ServiceKind = (typeof serviceKinds)[number]
/** Clients configure the kinds above for an organization; an agent chooses its own end of turn. */
export type RegisteredKind = ServiceKind | "end_of_turn"

/** Flite's voices: US English, but for `awb`, a Scot. */
export const fliteVoices = ["slt", "rms", "awb", "kal16", "kal"] as const
export type FliteVoice = (typeof fliteVoices)[number]

/** The voice of agents that choose none. */
export const offlineVoice = { engine: "flite", voice: "slt" } as const
