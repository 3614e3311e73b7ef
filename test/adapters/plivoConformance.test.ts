/** Plivo in the suite, which has these cases of its reference: P3 (the story), P4 (ends), P5 (a machine), P6 (altered fields), P10, P11 (keys) and P13. */
import { conformsHosted } from "./hostedSuites.ts"

conformsHosted("plivo")
