/** What the author of an adapter imports as `trunkline/adapter`. The built-in adapters import the same files directly. */
export * from "../call/HangupCause.ts"
export type { MediaStream } from "../call/Media.ts"
export * from "../egress/Egress.ts"
export type { CallId, TelephonyConfigId } from "../Id.ts"
export * from "./Adapter.ts"
export * as Credential from "./Credential.ts"
