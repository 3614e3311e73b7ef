/** Cloudonix in the suite. Of the cases of its reference, these are among the suite's: N6 (ends), N11 (a second hang-up) and N13 (marks). */
import cloudonix from "#adapters/cloudonix/cloudonix.ts"
import { openSuiteWorld } from "./cloudonixWorld.ts"
import { conforms } from "./conforms.ts"

conforms(cloudonix, openSuiteWorld)
