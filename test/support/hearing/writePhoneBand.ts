/**
 * Measures how the phone changes speech, and writes the result for the recognizer: `node test/support/hearing/writePhoneBand.ts`, which takes
 * less than a minute. The voices are Flite's, which are free, as is everything else that is used; the texts are the sentences that rules are
 * tuned on.
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { measurePhoneBand } from "./phoneBand.ts"
import { unrelatedTuning } from "./unrelated.ts"

const file = fileURLToPath(new URL("../../../adapters/voice/pocketsphinx/phoneBand.json", import.meta.url))
const rounded = (values: ReadonlyArray<number>): string => JSON.stringify(values.map((value) => Number(value.toPrecision(5))))

const maps = measurePhoneBand(["rms", "awb", "slt", "kal16"], unrelatedTuning).map(
  ({ rows, spread }) => `{"spread":${rounded(spread)},"rows":[\n${rows.map(rounded).join(",\n")}\n]}`
)
writeFileSync(file, `[${maps.join(",\n")}]\n`)
