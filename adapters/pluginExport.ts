/**
 * The exports of `trunkline/adapter`, for authors of adapters: the contract, and the parts that carriers have in common. The built-in adapters import
 * the same files directly.
 */
export * from "#core/outcome/HangupCause.ts"
export type { CallId, TelephonyConfigId } from "#core/Id.ts"
export * from "#core/egress/Egress.ts"
export * from "#core/provider/Adapter.ts"
export type { Callback, CallbackRead, CarrierRequest } from "#core/provider/Callback.ts"
export { type CallRef, isProviderCallId } from "#core/provider/CallRef.ts"
export * as Credential from "#core/provider/Credential.ts"
export type { MediaEnd, MediaListener, MediaStream } from "#core/provider/Media.ts"
export type { AcceptMedia, CarrierMediaOf, MediaProtocol, MediaSocket } from "#core/provider/MediaSocket.ts"
export { blockedBy, type SetupHost, type SetupStep } from "#core/provider/Setup.ts"
export { TransferDoubtful, TransferRefused, type TransferRequest } from "#core/provider/Transfer.ts"
export type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

// Speech and language services.
export * from "#core/model/EndOfTurn.ts"
export { defineEndOfTurn, type EndOfTurnProvider } from "#core/model/EndOfTurnProvider.ts"
export * from "#core/model/LanguageModel.ts"
export { defineLanguageModel, type LanguageModelProvider } from "#core/model/ModelProvider.ts"
export { defineRecognizer, type RecognizerProvider } from "#core/model/RecognizerProvider.ts"
export type { ServiceHost } from "#core/model/ServiceProvider.ts"
export * from "#core/model/SpeechToText.ts"
export type { SpeechFormat, SpeechPart, SpeechWanted, SpokenWord, TextToSpeech } from "#core/model/TextToSpeech.ts"
export { defineTextToSpeech, type TextToSpeechProvider } from "#core/model/TextToSpeechProvider.ts"

// Requests, and what their outcomes prove.
export * from "./shared/HttpClient.ts"
export * from "./shared/hostedAdapter.ts"
export * from "./shared/HostedCarrier.ts"
export * from "./shared/hostedTrunk.ts"
export * from "./shared/replies.ts"
export * from "./shared/requests.ts"
export * from "./shared/pages.ts"
export * from "./shared/ownApplication.ts"
export * from "./shared/phoneNumbers.ts"
export * from "./shared/theOneOf.ts"
export * from "./shared/transfers.ts"
export * from "./shared/callEvents.ts"
export * from "./shared/RequestBudget.ts"
export * from "./shared/FollowedCalls.ts"
export * from "./shared/keepStatus.ts"
export * from "./shared/setup.ts"

// Signatures and documents.
export * from "./shared/CarrierRequest.ts"
export * as Ed25519 from "./shared/ed25519.ts"
export * as Hmac from "./shared/hmac.ts"
export * as Jwt from "./shared/jwt.ts"
export * as Json from "./shared/Json.ts"
export * as Twiml from "./shared/twiml.ts"
export * as Xml from "./shared/xml.ts"

// Audio.
export * as Alaw from "#core/audio/Alaw.ts"
export * as Base64 from "./shared/base64.ts"
export * from "./shared/CarrierStream.ts"
export * from "./shared/JsonMedia.ts"
export * from "./shared/LinearMedia.ts"
export * from "./shared/MediaEar.ts"
export * from "./shared/MediaMarks.ts"
export * from "./shared/MediaMessage.ts"
export * as Mulaw from "#core/audio/Mulaw.ts"

/** What Plivo and Vobiz have in common. */
export * as PlivoDialect from "./shared/PlivoDialect.ts"
