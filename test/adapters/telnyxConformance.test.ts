/** Telnyx in the suite, which has these cases of its reference: X2 and X3 (ends), X4 (a machine), X6 (disorder), X7 (altered webhooks), X11 and X14 (the cost). */
import { conformsHosted } from "./hostedSuites.ts"

conformsHosted("telnyx")
