/** PocketSphinx as it is registered, if this machine has it. All calls share its processes. */
import { defineRecognizer } from "#core/model/RecognizerProvider.ts"
import { pocketsphinx } from "./pocketsphinx.ts"
import type { Recognition } from "./Recognition.ts"

export const pocketsphinxProvider = (recognition: Recognition) =>
  defineRecognizer({
    manifest: {
      contract: 1,
      kind: "stt",
      provider: "pocketsphinx",
      title: "PocketSphinx",
      description: "Chooses among the answers that are expected, on this machine and without a key. US English.",
      languages: ["en"]
    },
    fields: {},
    recognizer: () => pocketsphinx(recognition)
  })
