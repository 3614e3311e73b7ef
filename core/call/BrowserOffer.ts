/**
 * The offer of a browser (SDP, RFC 8866), checked before the engine acts on it: one audio stream over SRTP that can be PCMU, which is mu-law as
 * telephones have it. Candidates that are no IP addresses are left out, so that no name is ever looked up. That there are no more of them is left out
 * as well: a browser that hides its addresses has candidates that only its own packets show.
 */
import { canonicalAddress } from "#core/egress/IpAddress.ts"

/** Browsers write less than 10 KB. */
export const longestOffer = 32_768
const mostLines = 1000
/** Of one call, from its offers and after them. */
export const mostCandidates = 64

/** PCMU has this payload type in every description: RFC 3551, 6. */
const pcmu = "0"

/** Whether the engine may try the candidate (RFC 8839, 5.1): over UDP, at an IP address. */
export const isUsable = (candidate: string): boolean => {
  const [, , transport = "", , address = ""] = candidate.replace(/^a=/, "").split(" ")
  return candidate.length <= 512 && transport.toLowerCase() === "udp" && canonicalAddress(address) !== undefined
}

const isCandidate = (line: string): boolean => line.startsWith("a=candidate:")

/** What is given to the connection, or why the offer is refused, in words for the page's developer. */
export const readOffer = (sdp: string): { readonly sdp: string; readonly candidates: number } | { readonly refused: string } => {
  if (sdp.length > longestOffer) return { refused: `The offer is longer than ${longestOffer} characters` }
  const lines = sdp.split(/\r?\n/).filter((line) => line !== "")
  if (lines[0] !== "v=0" || lines.length > mostLines) return { refused: "The offer is not a session description" }
  const media = lines.filter((line) => line.startsWith("m="))
  const [kind, , protocol = "", ...formats] = media[0]?.split(" ") ?? []
  if (media.length !== 1 || kind !== "m=audio") return { refused: "The offer must have one stream, of audio" }
  if (!/^UDP\/TLS\/RTP\/SAVPF?$/.test(protocol)) return { refused: "The offer must be for SRTP with keys from DTLS" }
  if (!formats.includes(pcmu)) return { refused: "The offer must allow PCMU" }
  const missing = ["a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:"].find((name) => !lines.some((line) => line.startsWith(name)))
  if (missing !== undefined) return { refused: `The offer lacks ${missing.slice(0, -1)}` }
  const kept = lines.filter((line) => (isCandidate(line) ? isUsable(line) : line !== "a=end-of-candidates"))
  return { sdp: `${kept.join("\r\n")}\r\n`, candidates: kept.filter(isCandidate).length }
}
