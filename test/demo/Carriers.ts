/** How the reports of hosted carriers differ from those of Asterisk. */
import type { CarrierName } from "#test/emulators/carriers.ts"

interface Told {
  /** The causes for numbers with these last three digits, in place of the callee's own. */
  readonly causes: Readonly<Record<string, string>>
  readonly tellsKeys: boolean
  /** The differences in words, and anything else that needs an explanation. */
  readonly notes: ReadonlyArray<string>
}

const lineLost = { "005": "normal_clearing" }
const lostNote = "A carrier reports a call that lost its line as completed, so it counts as one that the callee ended."
const unanswered = { "003": "no_answer" }
const unansweredNote = (title: string) => `${title} does not report whether the callee or the ring timeout ended an unanswered call.`

const plain: Told = { causes: lineLost, tellsKeys: true, notes: [lostNote] }

export const told: Readonly<Record<CarrierName, Told>> = {
  twilio: { ...plain, causes: { ...lineLost, ...unanswered }, notes: [lostNote, unansweredNote("Twilio")] },
  telnyx: plain,
  vonage: {
    ...plain,
    causes: { ...lineLost, "008": "invalid_number_format" },
    notes: [lostNote, "Vonage reports a number that does not exist as invalid."]
  },
  plivo: plain,
  vobiz: {
    ...plain,
    tellsKeys: false,
    notes: [lostNote, "Vobiz does not report the keys that a callee presses."]
  },
  cloudonix: {
    ...plain,
    causes: { ...lineLost, ...unanswered },
    notes: [
      lostNote,
      unansweredNote("Cloudonix"),
      "Cloudonix signs nothing, so the engine asks it about each end, once per second at most: slots become free later."
    ]
  }
}
