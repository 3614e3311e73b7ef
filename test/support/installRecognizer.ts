/**
 * The recognizer for the speech of callees, such as the demo's: a package with a service that knows their audio, so that nothing else must be
 * installed.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { knownRecognizer } from "./knownRecognizer.ts"
import { knownSpeechOf } from "./knownSpeech.ts"
import { installService } from "./servicePackage.ts"
import type { SpokenUtterance } from "./utterances.ts"

export const packageName = "known-recognizer"
/** The provider name by which agents choose it. */
export const { provider: recognizerName } = knownRecognizer.manifest

/** Installs it in the folder in which the service is started, as an operator does with `npm install`. Returns the settings that load it. */
export const installRecognizer = (
  folder: string,
  { callees }: { readonly callees: ReadonlyMap<string, SpokenUtterance> }
): Readonly<Record<string, string>> => {
  installService(folder, packageName, ["support/knownRecognizer.ts", "knownRecognizer"])
  const file = join(folder, "known.json")
  writeFileSync(file, JSON.stringify(knownSpeechOf([...callees.values()])))
  return { KNOWN_SPEECH: file, SERVICES: packageName }
}
