/** Verifies a request's signature as S3 does, from what came over the wire: "Authenticating Requests (AWS Signature Version 4)" in the S3 API reference. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { S3Error } from "./S3Error.ts"

export interface Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

const algorithm = "AWS4-HMAC-SHA256"
const mostSkewMillis = 15 * 60_000
const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest()
export const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex")
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalQuery = (url: URL): string =>
  [...url.searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join("&")

const millisOf = (amzDate: string): number => Date.parse(amzDate.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"))

/** Throws unless the head is signed with these keys. What it says about the body is verified by `checkBody`. */
export const checkHead = (request: IncomingMessage, keys: Keys, region: string): void => {
  const [, keyId, day, givenRegion, signed = "", signature = ""] = authorization.exec(request.headers.authorization ?? "") ?? []
  if (keyId === undefined || day === undefined) throw new S3Error(403, "AccessDenied")
  if (keyId !== keys.accessKeyId) throw new S3Error(403, "InvalidAccessKeyId")
  if (givenRegion !== region) throw new S3Error(400, "AuthorizationHeaderMalformed")
  const header = (name: string): string => String(request.headers[name] ?? "")
  const names = signed.split(";")
  if (["host", "x-amz-date", "x-amz-content-sha256"].some((name) => !names.includes(name))) throw new S3Error(403, "AccessDenied")
  if (Object.keys(request.headers).some((name) => name.startsWith("x-amz-") && !names.includes(name)))
    throw new S3Error(403, "AccessDenied")
  if (Math.abs(millisOf(header("x-amz-date")) - Date.now()) > mostSkewMillis) throw new S3Error(403, "RequestTimeTooSkewed")
  if (header("x-amz-security-token") !== (keys.sessionToken ?? "")) throw new S3Error(400, "InvalidToken")
  const url = new URL(request.url ?? "", "http://unused")
  const canonical = [
    request.method,
    url.pathname,
    canonicalQuery(url),
    ...names.map((name) => `${name}:${header(name).trim().replace(/\s+/g, " ")}`),
    "",
    signed,
    header("x-amz-content-sha256")
  ].join("\n")
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = [algorithm, header("x-amz-date"), scope, sha256(canonical)].join("\n")
  const key = hmac(hmac(hmac(hmac(`AWS4${keys.secretAccessKey}`, day), region), "s3"), "aws4_request")
  if (!timingSafeEqual(hmac(key, toSign), Buffer.from(signature, "hex"))) throw new S3Error(403, "SignatureDoesNotMatch")
}

/** `digest` is the SHA-256 of the body as it was received. */
export const checkBody = (request: IncomingMessage, digest: string): void => {
  const claimed = request.headers["x-amz-content-sha256"]
  if (claimed !== "UNSIGNED-PAYLOAD" && claimed !== digest) throw new S3Error(400, "XAmzContentSHA256Mismatch")
}
