/**
 * Prints the SIPp scenario behind `PJSIP/<number>@sipp`. The last three digits of the number select what the callee does; the table is at the
 * top of conf/extensions.conf. Every INVITE, and every BYE or CANCEL that ends a call, is logged as `<time> <what> <number> <Call-ID>`, so that
 * this log proves who was called, how often and when.
 */
const common = `[last_Via:]
[last_From:]
[last_To:];tag=[pid]C[call_number]
[last_Call-ID:]`
const contact = "Contact: <sip:callee@[local_ip]:[local_port];transport=[transport]>"
/** Refers to the INVITE even after another request, such as a CANCEL, has arrived. */
const inviteSequence = "CSeq: [$sequence] INVITE"

const send = (message: string, attributes = "") => `<send${attributes}><![CDATA[\n${message}\n]]></send>`
const label = (name: string) => `<label id="${name}" />`
const go = (next: string) => `<nop next="${next}" />`

const provisional = (status: string) => send(`SIP/2.0 ${status}\n${common}\n${inviteSequence}\n${contact}\nContent-Length: 0\n`)
const ok = send("SIP/2.0 200 OK\n[last_Via:]\n[last_From:]\n[last_To:]\n[last_Call-ID:]\n[last_CSeq:]\nContent-Length: 0\n")
const final = (status: string) =>
  [
    send(`SIP/2.0 ${status}\n${common}\n${inviteSequence}\n${contact}\nContent-Length: 0\n`, ' retrans="500"'),
    '<recv request="ACK" />'
  ].join("\n")

/** SIPp echoes audio that arrives at its media port; what it plays comes from a stream port, one per call. */
type Port = "media_port" | "rtpstream_audio_port"
const withSdp = (status: string, port: Port, attributes = "") =>
  send(
    `SIP/2.0 ${status}
${common}
${inviteSequence}
${contact}
Content-Type: application/sdp
Content-Length: [len]

v=0
o=callee 1 1 IN IP[local_ip_type] [local_ip]
s=-
c=IN IP[media_ip_type] [media_ip]
t=0 0
m=audio [${port}] RTP/AVP 0 101
a=rtpmap:0 PCMU/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
a=ptime:20
`,
    attributes
  )

let labels = 0
/** Waits for a request of this kind, which continues the scenario at `next`. */
const wait = (request: "BYE" | "CANCEL", millis: number, next: string) => {
  labels += 1
  return `<recv request="${request}" timeout="${millis}" ontimeout="after${labels}" next="${next}" />\n${label(`after${labels}`)}`
}
const hour = 3_600_000
const ring = (millis: number) => `${provisional("180 Ringing")}\n${wait("CANCEL", millis, "cancelled")}`
const talk = (millis: number) => wait("BYE", millis, "bye")
const stay = () => talk(hour)
const stream = (argument: string) => `<action><exec rtp_stream="${argument}" /></action>`
const play = (sound: string, times = 1) => stream(`${sound}.ulaw,${times},0,PCMU/8000`)
/** `action` runs with the ACK: as a step of its own, a BYE right after the ACK would find SIPp between two steps. */
const answer = (action = "", port: Port = "rtpstream_audio_port") =>
  [
    withSdp("200 OK", port, ' retrans="500"'),
    // If a CANCEL crosses our answer, the caller acknowledges the answer and sends a BYE.
    '<recv request="CANCEL" optional="true" next="crossed" />',
    `<recv request="ACK">${action}</recv>`
  ].join("\n")

const request = (method: string, sequence: number, rest: string) =>
  send(
    `${method} [next_url] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: [$callee];tag=[pid]C[call_number]
To: [$caller]
[last_Call-ID:]
CSeq: ${sequence} ${method}
Max-Forwards: 70
${rest}
`,
    ' retrans="500"'
  )
const hangUp = (reason = 'Reason: Q.850;cause=16;text="Normal Clearing"\n') =>
  [request("BYE", 9, `${reason}Content-Length: 0`), '<recv request="BYE" optional="true" next="bye" />', '<recv response="200" />'].join(
    "\n"
  )
/** Sends digits as SIP INFO, because SIPp needs raw sockets, and so root, to send them over RTP. */
const sendDigits = (digits: string) =>
  Array.from(digits, (digit, index) =>
    [
      request("INFO", index + 1, `Content-Type: application/dtmf-relay\nContent-Length: [len]\n\nSignal=${digit}\nDuration=100`),
      '<recv request="BYE" optional="true" next="bye" />',
      '<recv response="200" />',
      talk(250)
    ].join("\n")
  ).join("\n")

const behaviours: Record<string, ReadonlyArray<string>> = {
  100: [ring(500), answer(), talk(5_000), hangUp()],
  101: [answer(), talk(200), hangUp()],
  102: [answer(), talk(200), hangUp("")],
  105: [ring(500), answer(), talk(1_000), hangUp()],
  110: [answer(), stay()],
  120: [ring(3_000), answer(), stay()],
  130: [
    withSdp("183 Session Progress", "rtpstream_audio_port"),
    `<nop>${play("tone440")}</nop>`,
    wait("CANCEL", 3_000, "cancelled"),
    answer(stream("pause")),
    stay()
  ],
  200: [ring(300), final("486 Busy Here")],
  300: [ring(hour)],
  310: [ring(3_000), final("480 Temporarily Unavailable")],
  320: [wait("CANCEL", hour, "cancelled")],
  330: [
    provisional("180 Ringing"),
    '<recv request="CANCEL" />',
    ok,
    withSdp("200 OK", "rtpstream_audio_port", ' retrans="500"'),
    '<recv request="ACK" />',
    stay()
  ],
  400: [final("603 Decline")],
  500: [ring(1_000), answer(play("greeting")), talk(30_000), hangUp()],
  510: [ring(1_000), answer(play("hello")), stay()],
  520: [answer(play("silence", -1)), stay()],
  600: [answer(), talk(1_000), sendDigits("1234#"), talk(2_000), hangUp()],
  700: [answer("", "media_port"), stay()],
  710: [answer(play("tone440", -1)), stay()],
  800: [final("503 Service Unavailable")],
  599: [final("500 Server Internal Error")],
  699: [final("600 Busy Everywhere")]
}
for (const status of [
  "302 Moved Temporarily",
  "401 Unauthorized",
  "403 Forbidden",
  "404 Not Found",
  "408 Request Timeout",
  "410 Gone",
  "480 Temporarily Unavailable",
  "484 Address Incomplete",
  "486 Busy Here",
  "488 Not Acceptable Here",
  "502 Bad Gateway",
  "503 Service Unavailable",
  "504 Server Time-out",
  "603 Decline",
  "604 Does Not Exist Anywhere",
  "607 Unwanted",
  "608 Rejected"
])
  behaviours[status.slice(0, 3)] = [final(status)]

const log = (what: string) => `<log message="[timestamp] ${what} [$number] [call_id]" />`
const note = (what: string) => `<nop><action>${log(what)}</action></nop>`
const endings = Object.keys(behaviours)
const find = (pattern: string, where: string, variables: string) => `<ereg regexp="${pattern}" ${where} assign_to="${variables}" />`

console.log(
  [
    '<?xml version="1.0" encoding="UTF-8" ?>',
    '<scenario name="callee">',
    '<recv request="INVITE" rrs="true"><action>',
    find("CSeq: *([0-9]+)", 'search_in="msg"', "line,sequence"),
    find("[^ ].*", 'search_in="hdr" header="From:"', "caller"),
    find("[^ ].*", 'search_in="hdr" header="To:"', "callee"),
    find("^INVITE sip:([^@]*([0-9][0-9][0-9]))@", 'search_in="msg"', "start,number,digits"),
    '<todouble assign_to="ending" variable="digits" />',
    ...endings.map((digits) => `<test assign_to="is${digits}" variable="ending" compare="equal" value="${digits}" />`),
    log("invite"),
    "</action></recv>",
    // SIPp treats a variable that is used only once as an error, so these two are referenced.
    '<Reference variables="line,start" />',
    ...endings.map((digits) => `<nop next="number${digits}" test="is${digits}" />`),
    go("number404"),
    ...endings.map((digits) => [label(`number${digits}`), ...(behaviours[digits] ?? []), go("end")].join("\n")),
    label("cancelled"),
    ok.replace("[last_To:]", "[last_To:];tag=[pid]C[call_number]"),
    final("487 Request Terminated"),
    note("cancel"),
    go("end"),
    label("crossed"),
    ok,
    '<recv request="ACK" />',
    stay(),
    go("end"),
    label("bye"),
    ok,
    note("bye"),
    label("end"),
    "</scenario>"
  ].join("\n")
)
