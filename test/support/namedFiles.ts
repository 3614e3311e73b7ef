/** Test files that are run in a special way. `tidy.test.ts` fails if one of them does not exist. */

const pathOf = (name: string): string => `test/${name}.test.ts`

/** These do not share a process with others. */
export const alone: ReadonlyArray<string> = [
  "adapters/ari",
  "adapters/ariConformance",
  "adapters/ariDoubt",
  "adapters/ariSilence",
  "adapters/ariStrangers",
  "adapters/ariTransfer",
  "adapters/asteriskLab",
  "adapters/asteriskLabDialplan",
  "adapters/cloudonix",
  "adapters/cloudonixConformance",
  "adapters/cloudonixTransfer",
  "adapters/hearing",
  "adapters/hostedMedia",
  "adapters/plivoConformance",
  "adapters/pocketsphinx",
  "adapters/pocketsphinxSession",
  "adapters/recognizers",
  "adapters/telnyxConformance",
  "adapters/twilioConformance",
  "adapters/vobizConformance",
  "adapters/vonageConformance",
  "gateway/fuzz",
  "gateway/hostile",
  "gateway/matrix",
  "gateway/server",
  "gateway/shedding",
  "gateway/slowReaders",
  "runtime/answeringMachines",
  "runtime/build",
  "runtime/conversationRecords",
  "runtime/faultyTalks",
  "runtime/fliteWasm",
  "runtime/foundation",
  "runtime/npmStart",
  "runtime/ownPriority",
  "runtime/plugins",
  "runtime/recordedTalks",
  "runtime/s3Faults",
  "runtime/sentences",
  "runtime/silentConnections",
  "runtime/spokenCalls",
  "security/dump",
  "security/egress",
  "security/firstStart",
  "security/largeBodies",
  "security/neighbours",
  "security/quotaRates",
  "security/requestHeads",
  "store/steadyCaches"
].map(pathOf)

/**
 * What these judge needs real time: frames every 20 ms, or answers within tenths of a second. They run one by one, with the machine to themselves. Each has
 * its reason.
 */
export const realTime: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "adapters/ariTransfer": "two parties on a real Asterisk must hear an eighth of a second of each other's tones without a pause",
    "conversations/conversations": "callees and agents listen to each other, and pauses end a turn",
    "conversations/kills": "transcripts of four callees and an agent are compared word for word, which a stall of 0.7 s changes",
    "journey/answeringMachines": "machines are detected on live audio, and the message must begin after the beep",
    "journey/canaries": "live speech is recognized, and looked for in the recording",
    "journey/conversations": "callees and agents listen to each other, and pauses end a turn",
    "journey/demo": "callees and agents listen to each other, and pauses end a turn",
    "journey/generatedAsterisk": "callees on a real Asterisk measure how loud they hear the agent within twelve seconds",
    "journey/generatedDialplan": "Asterisk's own AMD listens to what is played to it, and late packets are silence"
  }).map(([name, reason]) => [pathOf(name), reason])
)

/** Of the folders of stories, these are part of `npm test`: one of each kind, and what is cheap. */
export const proving: ReadonlyArray<string> = [
  "chaos/chaos",
  "chaos/judge",
  "conversations/scripts",
  "journey/breaker",
  "journey/campaign",
  "journey/clock",
  "journey/conversationKills",
  "journey/doubt",
  "journey/greetings",
  "journey/heldAnswers",
  "journey/hostedStop",
  "journey/nodeStrangers",
  "journey/originateExtras",
  "journey/preCallFetch",
  "journey/sdk",
  "journey/standbyRequests",
  "journey/trunkLostRetries",
  "journey/webhooks"
].map(pathOf)

/** Of the other folders, these are stories, because they take long and show nothing that a shorter test does not. */
export const lasting: ReadonlyArray<string> = [].map(pathOf)

/** The files that take longest, in that order. They start first, so that the run does not end with one of them alone. */
export const longest: ReadonlyArray<string> = [
  "journey/lateCalls",
  "journey/stuckTrunk",
  "journey/faultPause",
  ...["telnyx", "plivo", "vobiz", "vonage", "twilio"].map((carrier) => `journey/hosted/${carrier}`),
  "journey/databaseFailover",
  "journey/docs",
  "journey/trouble",
  "adapters/cloudonix",
  "journey/hosted/cloudonix",
  "journey/crash",
  "package/package",
  "journey/kills",
  "adapters/ariDoubt",
  "journey/allInDoubt",
  "journey/outages",
  "journey/throughDialplan",
  "chaos/chaos",
  "journey/outageEntries",
  "journey/generatedAsterisk",
  "journey/hostedCarrier",
  "journey/foundCalls",
  "journey/callNodes",
  "journey/nodesFailover",
  "journey/hostedNodes",
  "journey/leavingEngine",
  "journey/twoEngines",
  "journey/upgrade",
  "journey/restoredDatabase",
  "journey/unkeptCalls",
  "journey/onePhone",
  "journey/recovery",
  "journey/severalAsterisks",
  "journey/idempotency",
  "journey/claimedEnds",
  "journey/callbackSchedules",
  "journey/asterisk",
  "journey/campaign",
  "journey/pacing",
  "adapters/ariConformance",
  "adapters/eighth/brokenAdapters",
  "security/neighbours",
  "security/quotaRates",
  "gateway/fuzz",
  "gateway/hostile",
  "runtime/answeringMachines",
  "security/recordingFormat"
].map(pathOf)
