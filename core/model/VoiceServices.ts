/** The kinds of speech and language services. */

export const serviceKinds = ["llm", "tts", "stt", "embeddings", "realtime"] as const
export type ServiceKind = (typeof serviceKinds)[number]
/** Includes a kind that organizations do not configure: the end-of-turn model, which an agent chooses for itself. */
export type RegisteredKind = ServiceKind | "end_of_turn"
