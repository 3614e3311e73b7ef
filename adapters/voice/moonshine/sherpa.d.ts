/** What is used of `sherpa-onnx-node`, which has no declarations. https://k2-fsa.github.io/sherpa/onnx/javascript-api/index.html */
declare module "sherpa-onnx-node" {
  interface Stream {
    readonly acceptWaveform: (audio: { readonly samples: Float32Array; readonly sampleRate: number }) => void
  }
  /** Throws if the files are not such a model; some faults in them end the process. */
  class OfflineRecognizer {
    constructor(config: { readonly modelConfig: object })
    createStream(): Stream
    /** Blocks until it is done. */
    decode(stream: Stream): void
    getResult(stream: Stream): { readonly text: string; readonly tokens: ReadonlyArray<string> }
  }
  const sherpa: { readonly OfflineRecognizer: typeof OfflineRecognizer }
  export = sherpa
}
