/** What offers of browsers are refused, and what is left of the others. */
import t from "tap"
import { isUsable, longestOffer, readOffer } from "#core/call/BrowserOffer.ts"

/** As Chromium writes it, without its other lines. */
const offer = [
  "v=0",
  "o=- 1 2 IN IP4 127.0.0.1",
  "s=-",
  "t=0 0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111 9 0 8 126",
  "c=IN IP4 0.0.0.0",
  "a=ice-ufrag:abcd",
  "a=ice-pwd:0123456789012345678901",
  "a=fingerprint:sha-256 00",
  "a=candidate:1 1 udp 2113937151 0e0d3b5c.local 54321 typ host",
  "a=candidate:2 1 udp 2113937151 192.0.2.7 54321 typ host",
  "a=candidate:3 1 tcp 1 192.0.2.7 9 typ host tcptype active",
  "a=end-of-candidates",
  ""
].join("\r\n")

t.test("given the offer of a browser, then only candidates at addresses, over UDP, are left of it", async (t) => {
  const expected = offer.split("\r\n").filter((line) => !/local|tcp|end-of/.test(line))
  t.strictSame(readOffer(offer), { sdp: expected.join("\r\n"), candidates: 1 })
  t.strictSame(readOffer(offer.replaceAll("\r\n", "\n")), { sdp: expected.join("\r\n"), candidates: 1 })
})

t.test("given anything else, then it is refused, and the reason says why", async (t) => {
  const check = (sdp: string, refused: RegExp) => t.match(readOffer(sdp), { refused })
  check("", /not a session description/)
  check(`v=0\n${"a=x\n".repeat(1000)}`, /not a session description/)
  check("x".repeat(longestOffer + 1), /longer/)
  check("v=0\r\n", /one stream/)
  check(`${offer}m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n`, /one stream/)
  check(`${offer}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n`, /one stream/)
  check(offer.replace("m=audio", "m=video"), /of audio/)
  check(offer.replace("UDP/TLS/RTP/SAVPF", "RTP/AVP"), /SRTP/)
  check(offer.replace(" 0 8", " 8"), /PCMU/)
  check(offer.replace(/a=ice-ufrag.*/, "a=x"), /lacks a=ice-ufrag/)
  check(offer.replace(/a=fingerprint.*/, "a=x"), /lacks a=fingerprint/)
})

t.test("given candidates, then those are usable that are addresses, over UDP", async (t) => {
  const check = (candidate: string, expected: boolean) => t.equal(isUsable(candidate), expected, candidate.slice(0, 80))
  check("candidate:1 1 udp 1 192.0.2.7 5 typ host", true)
  check("candidate:1 1 UDP 1 2001:db8::1 5 typ srflx raddr 0.0.0.0 rport 0", true)
  check("candidate:1 1 udp 1 example.com 5 typ host", false)
  check("candidate:1 1 tcp 1 192.0.2.7 5 typ host", false)
  check("", false)
  check(`candidate:1 1 udp 1 192.0.2.7 5 typ host ${"x".repeat(600)}`, false)
})
