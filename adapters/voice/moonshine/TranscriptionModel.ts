/** A model that transcribes speech, as the processes that run it are told about it. */

/** Speech that is put in front of short utterances; see `LeadIn.ts`. */
export interface LeadIn {
  /** 8 kHz mu-law in base64, without silence around it. */
  readonly audio: string
  readonly text: string
}

export interface TranscriptionModel {
  /** The name under which its use is counted. */
  readonly name: string
  /** The model's part of sherpa-onnx' configuration, with absolute paths. */
  readonly modelConfig: Readonly<Record<string, unknown>>
  /** Undefined for models that understand lone words without it. */
  readonly leadIn: LeadIn | undefined
}
