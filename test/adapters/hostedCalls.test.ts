/** What `hostedCallRules.ts` says, for each carrier but Cloudonix, whose calls take longer (`cloudonix.test.ts`). */
import { errorOf as dialectError } from "#test/emulators/shared/PlivoDialectEmulator.ts"
import { errorOf as telnyxError } from "#test/emulators/telnyx/TelnyxErrors.ts"
import { errorOf as vonageError } from "#test/emulators/vonage/VonageErrors.ts"
import { type CallRules, DAY_MILLIS, holdForCalls, nothing, page } from "./hostedCallRules.ts"

const aUuid = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab"

const ofDialect: Omit<CallRules, "states"> = {
  otherTimes: [-DAY_MILLIS, DAY_MILLIS],
  anId: "00000000-0000-4000-8000-000000000000",
  noIds: ["", "../Number", "request:", "request:../x"],
  noEnds: [nothing],
  noLooks: [],
  noRefusals: [page, { status: 200, body: { api_id: "a", error: "no" } }, { status: 503, body: { api_id: "a", error: "no" } }],
  // Plivo's dialect takes any success for proof that keys were sent.
  noKeys: [],
  refusesTransfer: dialectError(404, "call not found")
}

holdForCalls("plivo", { ...ofDialect, states: (["queued", "ringing", "up", "ended"] as const).map((state) => [state, state]) })
holdForCalls("vobiz", { ...ofDialect, states: (["ringing", "up", "ended"] as const).map((state) => [state, state]) })
holdForCalls("telnyx", {
  states: [
    ["started", "ringing"],
    ["ringing", "ringing"],
    ["up", "up"],
    ["ended", "ended", "gone"]
  ],
  isFoundByNumber: false,
  isOverWithoutTrace: false,
  otherTimes: [],
  anId: "v3:nobody:1",
  noIds: ["", "a b"],
  noEnds: [nothing, page],
  noLooks: [],
  noRefusals: [page],
  noKeys: [page],
  refusesTransfer: telnyxError(422, "90018")
})
holdForCalls("twilio", {
  states: (["queued", "ringing", "up", "ended"] as const).map((state) => [state, state]),
  otherTimes: [-DAY_MILLIS, DAY_MILLIS],
  anId: `CA${"0".repeat(32)}`,
  noIds: ["../Recordings"],
  noEnds: [nothing],
  noLooks: [],
  noRefusals: [page],
  refusesTransfer: { status: 404, body: { code: 20404, message: "not found", status: 404 } }
})
holdForCalls("vonage", {
  states: [
    ["started", "ringing"],
    ["ringing", "ringing"],
    ["up", "up"],
    ["ended", "ended"]
  ],
  // Vonage is asked for all calls since then.
  otherTimes: [DAY_MILLIS],
  anId: aUuid,
  noIds: ["../applications"],
  noEnds: [
    nothing,
    { status: 404, body: { type: "NOT_FOUND", error_title: "Not Found" } },
    { status: 400, body: { type: "BAD_REQUEST", error_title: "Bad Request" } },
    page
  ],
  noLooks: [
    { status: 200, body: { uuid: aUuid, status: "constructor" } },
    { status: 429, body: { type: "THROTTLED", error_title: "Rate Limit Hit" } }
  ],
  noRefusals: [page, { status: 503, body: {} }],
  noKeys: [page],
  refusesTransfer: vonageError(404, "not-found")
})
