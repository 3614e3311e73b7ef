/** Twilio in the suite, which has these cases of its reference: T3 (disorder), T4 (ends), T5 (a machine), T7 (a lost reply), T9 (altered fields) and T13. */
import { conformsHosted } from "./hostedSuites.ts"

conformsHosted("twilio")
