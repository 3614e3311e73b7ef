/** Vonage in the suite, which has these cases of its reference: V2 (the story and its cost), V3 (ends), V4 (a machine), V6 (altered webhooks) and V12. */
import { conformsHosted } from "./hostedSuites.ts"

conformsHosted("vonage")
