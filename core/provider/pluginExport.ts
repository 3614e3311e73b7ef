/** The exports of `trunkline/adapter`, for authors of adapters. The built-in adapters import the same files directly. */
export * from "#core/outcome/HangupCause.ts"
export type { MediaStream } from "./Media.ts"
export * from "#core/egress/Egress.ts"
export type { CallId, TelephonyConfigId } from "#core/Id.ts"
export * from "./Adapter.ts"
export type { CallRef } from "./CallRef.ts"
export * as Credential from "./Credential.ts"
