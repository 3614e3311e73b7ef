/** Cloudonix in the suite, which has these cases of its reference: N6 (ends), N11 (a second hang-up) and N13 (marks). */
import { conformsHosted } from "./hostedSuites.ts"

conformsHosted("cloudonix")
