/**
 * A bucket as the S3 REST API documents it, addressed by path: objects, ranges, conditions, multipart uploads. It verifies every signature and body,
 * keeps a log of all requests, and has faults on demand.
 */
import { createHash, randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { localPort } from "#test/support/localPort.ts"
import { resetSocket } from "#test/support/resetSocket.ts"
import { S3Error } from "./S3Error.ts"
import { checkBody, checkHead, type Keys, sha256 } from "./signature.ts"

/** What happens to a request instead of, or in addition to, what it asks for. */
type Fault =
  | { readonly kind: "error"; readonly status: number; readonly code: string }
  /** There is no answer, and the connection stays open. */
  | { readonly kind: "hang" }
  /** The connection is reset before the request is read. */
  | { readonly kind: "reset" }
  /** The request is carried out, and then the connection is reset: the reply is lost. */
  | { readonly kind: "loseReply" }
  /** The connection is reset after this many bytes of the answer's body. */
  | { readonly kind: "cut"; readonly bytes: number }
  /** The answer's body ends normally, but after this many bytes. */
  | { readonly kind: "truncate"; readonly bytes: number }
  /** The status is 200, and the body is an error. */
  | { readonly kind: "lateError" }

interface S3Request {
  readonly method: string
  /** The key without the bucket. */
  readonly key: string
  readonly query: Readonly<Record<string, string>>
  readonly range: string | undefined
  status: number
}

interface Stored {
  readonly bytes: Buffer
  readonly etag: string
  readonly modifiedAt: Date
}
interface Upload {
  readonly key: string
  readonly parts: Map<number, Stored>
}

const leastPart = 5 * 1024 * 1024
const etagOf = (bytes: Uint8Array): string => `"${createHash("md5").update(bytes).digest("hex")}"`
const stored = (bytes: Buffer, etag = etagOf(bytes)): Stored => ({ bytes, etag, modifiedAt: new Date() })
const xml = (name: string, content: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n<${name}>${content}</${name}>`

interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export class S3Emulator {
  readonly bucket = "calls"
  readonly region = "eu-central-1"
  readonly keys: Keys
  readonly objects = new Map<string, Stored>()
  readonly uploads = new Map<string, Upload>()
  readonly log: Array<S3Request> = []
  /** Called for each request; undefined: the request is answered normally. */
  faultOf: (request: S3Request) => Fault | undefined = () => undefined
  /** Called when the body of a request has arrived; the request is carried out once the promise is settled. */
  hold: (request: S3Request) => Promise<unknown> | undefined = () => undefined
  #server: Server
  readonly #sockets = new Set<Socket>()
  #port = 0

  private constructor(keys: Keys) {
    this.keys = keys
    this.#server = this.#made()
  }

  static async start(keys: Keys = { accessKeyId: "AKIATEST", secretAccessKey: "c2VjcmV0LW9mLXRoZS10ZXN0" }): Promise<S3Emulator> {
    const emulator = new S3Emulator(keys)
    await emulator.comeBack()
    return emulator
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`
  }
  /** The environment variables with which the engine uses this bucket. */
  environment(prefix = "kept", bucket = this.bucket) {
    return {
      FILES_URL: `s3://${bucket}/${prefix}?region=${this.region}&endpoint=${this.endpoint}`,
      AWS_ACCESS_KEY_ID: this.keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: this.keys.secretAccessKey,
      ...(this.keys.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: this.keys.sessionToken })
    }
  }
  requests(method: string, key: RegExp): ReadonlyArray<S3Request> {
    return this.log.filter((one) => one.method === method && key.test(one.key))
  }

  /** Connections are refused until `comeBack`. */
  async goAway(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) resetSocket(socket)
    await closed
  }
  async comeBack(): Promise<void> {
    this.#server = this.#made()
    this.#port = await localPort(this.#server, this.#port)
  }
  readonly stop = () => this.goAway()

  #made(): Server {
    const server = createServer((request, response) => {
      // The request may break off midway.
      this.#serve(request, response).catch(() => response.destroy())
    })
    server.on("connection", (socket) => {
      this.#sockets.add(socket)
      socket.on("close", () => this.#sockets.delete(socket))
    })
    return server
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://unused")
    const [, bucket = "", ...rest] = url.pathname.split("/")
    const noted: S3Request = {
      method: request.method ?? "",
      key: rest.join("/"),
      query: Object.fromEntries(url.searchParams),
      range: request.headers.range,
      status: 0
    }
    this.log.push(noted)
    const fault = this.faultOf(noted)
    if (fault?.kind === "hang") return
    if (fault?.kind === "reset") return resetSocket(request.socket)
    const answer = await this.#answered(request, noted, bucket, fault)
    noted.status = answer.status
    if (fault?.kind === "loseReply") return resetSocket(request.socket)
    write(request, response, answer, fault)
  }

  async #answered(request: IncomingMessage, noted: S3Request, bucket: string, fault: Fault | undefined): Promise<Answer> {
    const pieces: Array<Buffer> = []
    for await (const piece of request) pieces.push(piece)
    const body = Buffer.concat(pieces)
    await this.hold(noted)
    try {
      if (fault?.kind === "error") throw new S3Error(fault.status, fault.code)
      checkHead(request, this.keys, this.region)
      checkBody(request, sha256(body))
      if (bucket !== this.bucket) throw new S3Error(404, "NoSuchBucket")
      if (fault?.kind === "lateError") return { status: 200, body: new S3Error(500, "InternalError").xml }
      return this.#done(request, noted, body)
    } catch (error) {
      if (!(error instanceof S3Error)) throw error
      return { status: error.status, headers: { "content-type": "application/xml" }, body: error.xml }
    }
  }

  #done(request: IncomingMessage, { key, method, query }: S3Request, body: Buffer): Answer {
    const { partNumber, uploadId, uploads } = query
    if (key === "" && method === "HEAD") return { status: 200 }
    if (key === "") throw new S3Error(405, "MethodNotAllowed")
    if (method === "POST" && uploads !== undefined) return this.#begin(key)
    if (uploadId !== undefined) return this.#multipart(method, this.#uploadOf(uploadId, key), uploadId, Number(partNumber), body)
    if (method === "PUT") return this.#put(request, key, body)
    if (method === "DELETE") return this.#delete(key)
    if (method === "GET" || method === "HEAD") return this.#get(request, key)
    throw new S3Error(405, "MethodNotAllowed")
  }

  #put(request: IncomingMessage, key: string, body: Buffer): Answer {
    if (request.headers["content-length"] === undefined) throw new S3Error(411, "MissingContentLength")
    const object = stored(body)
    this.objects.set(key, object)
    return { status: 200, headers: { etag: object.etag } }
  }

  #delete(key: string): Answer {
    this.objects.delete(key)
    return { status: 204 }
  }

  #get({ headers }: IncomingMessage, key: string): Answer {
    const object = this.objects.get(key)
    if (object === undefined) throw new S3Error(404, "NoSuchKey")
    if (headers["if-match"] !== undefined && headers["if-match"] !== object.etag) throw new S3Error(412, "PreconditionFailed")
    const about = { etag: object.etag, "last-modified": object.modifiedAt.toUTCString(), "accept-ranges": "bytes" }
    const [, first, last] = /^bytes=(\d+)-(\d+)?$/.exec(headers.range ?? "") ?? []
    if (first === undefined) return { status: 200, headers: about, body: object.bytes }
    const size = object.bytes.length
    const until = Math.min(size, last === undefined ? size : Number(last) + 1)
    if (Number(first) >= size) throw new S3Error(416, "InvalidRange")
    const range = `bytes ${first}-${until - 1}/${size}`
    return { status: 206, headers: { ...about, "content-range": range }, body: object.bytes.subarray(Number(first), until) }
  }

  #begin(key: string): Answer {
    // S3's ids contain characters that must be encoded in a query.
    const id = `${randomUUID()}+/=`
    this.uploads.set(id, { key, parts: new Map() })
    return {
      status: 200,
      body: xml("InitiateMultipartUploadResult", `<Bucket>${this.bucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId>`)
    }
  }

  #uploadOf(id: string, key: string): Upload {
    const upload = this.uploads.get(id)
    if (upload?.key !== key) throw new S3Error(404, "NoSuchUpload")
    return upload
  }

  #multipart(method: string, upload: Upload, id: string, part: number, body: Buffer): Answer {
    if (method === "PUT") {
      const object = stored(body)
      upload.parts.set(part, object)
      return { status: 200, headers: { etag: object.etag } }
    }
    if (method === "POST") this.#complete(upload, body.toString())
    this.uploads.delete(id)
    return method === "POST" ? { status: 200, body: xml("CompleteMultipartUploadResult", `<Key>${upload.key}</Key>`) } : { status: 204 }
  }

  #complete({ key, parts }: Upload, body: string): void {
    const listed = [...body.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = ""]) => ({
      number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
      etag: /<ETag>([^<]+)</.exec(part)?.[1]?.replaceAll("&quot;", '"')
    }))
    if (listed.length === 0) throw new S3Error(400, "MalformedXML")
    const found = listed.map(({ etag, number }) => {
      const part = parts.get(number)
      if (part === undefined || part.etag !== etag) throw new S3Error(400, "InvalidPart")
      return part
    })
    if (found.slice(0, -1).some(({ bytes }) => bytes.length < leastPart)) throw new S3Error(400, "EntityTooSmall")
    const bytes = Buffer.concat(found.map((part) => part.bytes))
    this.objects.set(key, stored(bytes, `"${etagOf(bytes).slice(1, -1)}-${found.length}"`))
  }
}

const write = (
  request: IncomingMessage,
  response: ServerResponse,
  { body = "", headers = {}, status }: Answer,
  fault: Fault | undefined
) => {
  const bytes = Buffer.from(body)
  if (fault?.kind === "truncate") {
    response.writeHead(status, headers)
    response.end(bytes.subarray(0, fault.bytes))
    return
  }
  response.writeHead(status, { ...headers, ...(status === 204 ? {} : { "content-length": bytes.length }) })
  if (request.method === "HEAD") return void response.end()
  if (fault?.kind === "cut") return void response.write(bytes.subarray(0, fault.bytes), () => resetSocket(request.socket))
  response.end(bytes)
}
