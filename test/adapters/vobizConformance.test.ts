/** Vobiz in the suite, which has these cases of its reference: B3 (the story), B4 (ends), B5 (a machine), B9 (a lost reply), B11 and B12 (streams). */
import { conformsHosted } from "./hostedSuites.ts"

conformsHosted("vobiz")
