/** The recognizer that hears on this machine, as it is registered. All calls share its processes. */
import { defineRecognizer } from "#core/model/RecognizerProvider.ts"
import { moonshine } from "./moonshine.ts"

export const moonshineProvider = (options: Parameters<typeof moonshine>[0]) =>
  defineRecognizer({
    manifest: {
      contract: 1,
      kind: "stt",
      provider: "moonshine",
      title: "Moonshine",
      description:
        "Transcribes whatever callees say, on this machine and without a key. English, or the languages of the operator's own model.",
      ...(options.languages === undefined ? {} : { languages: options.languages })
    },
    fields: {},
    unready: options.unready,
    recognizer: () => moonshine(options)
  })
