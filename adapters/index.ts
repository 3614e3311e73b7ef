/** The built-in adapters, one line each. */
import type { Adapter } from "#core/provider/Adapter.ts"
import ari from "./ari/ari.ts"
import cloudonix from "./cloudonix/cloudonix.ts"
import plivo from "./plivo/plivo.ts"
import telnyx from "./telnyx/telnyx.ts"
import twilio from "./twilio/twilio.ts"
import vobiz from "./vobiz/vobiz.ts"
import vonage from "./vonage/vonage.ts"

export const builtIn: ReadonlyArray<Adapter> = [ari, cloudonix, plivo, telnyx, twilio, vobiz, vonage]
