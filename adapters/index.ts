/** The built-in adapters, one line each. */
export { default as ari } from "./ari/ari.ts"
export { default as cloudonix } from "./cloudonix/cloudonix.ts"
export { default as plivo } from "./plivo/plivo.ts"
export { default as telnyx } from "./telnyx/telnyx.ts"
export { default as twilio } from "./twilio/twilio.ts"
export { default as vobiz } from "./vobiz/vobiz.ts"
export { default as vonage } from "./vonage/vonage.ts"
