/** The emulated bucket, tested with AWS's own client: if that client works with it, ours can be tested against it. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand
} from "@aws-sdk/client-s3"
import t, { type Test } from "tap"
import { S3Emulator } from "./s3/S3Emulator.ts"

const open = async (t: Test, secretAccessKey?: string) => {
  const emulator = await S3Emulator.start()
  t.teardown(emulator.stop)
  const client = new S3Client({
    endpoint: emulator.endpoint,
    region: emulator.region,
    forcePathStyle: true,
    credentials: { ...emulator.keys, ...(secretAccessKey === undefined ? {} : { secretAccessKey }) },
    maxAttempts: 2,
    // Otherwise bodies are sent in chunks with trailers, which our client never does.
    requestChecksumCalculation: "WHEN_REQUIRED"
  })
  t.teardown(() => client.destroy())
  return { client, emulator, place: { Bucket: emulator.bucket, Key: "a/b.bin" } }
}
const nameOf = (error: unknown) => (error instanceof Error ? error.name : error)

t.test("given an object, when AWS's client stores, reads and deletes it, then the replies are those of S3", async (t) => {
  const { client, place } = await open(t)
  const { ETag } = await client.send(new PutObjectCommand({ ...place, Body: Buffer.from("hello world") }))
  const whole = await client.send(new GetObjectCommand(place))
  t.equal(await whole.Body?.transformToString(), "hello world")
  const part = await client.send(new GetObjectCommand({ ...place, Range: "bytes=6-8", IfMatch: ETag }))
  t.equal(await part.Body?.transformToString(), "wor")
  t.equal(part.ContentRange, "bytes 6-8/11")
  t.match(await client.send(new HeadObjectCommand(place)), { ContentLength: 11, ETag })
  const beyond = nameOf(await client.send(new GetObjectCommand({ ...place, Range: "bytes=11-" })).catch((error: unknown) => error))
  t.equal(beyond, "InvalidRange")
  const other = nameOf(await client.send(new GetObjectCommand({ ...place, IfMatch: '"other"' })).catch((error: unknown) => error))
  t.equal(other, "PreconditionFailed")
  await client.send(new DeleteObjectCommand(place))
  await client.send(new DeleteObjectCommand(place))
  t.equal(nameOf(await client.send(new GetObjectCommand(place)).catch((error: unknown) => error)), "NoSuchKey")
  t.equal(nameOf(await client.send(new HeadObjectCommand(place)).catch((error: unknown) => error)), "NotFound")
  t.equal(nameOf(await client.send(new GetObjectCommand({ ...place, Bucket: "others" })).catch((error: unknown) => error)), "NoSuchBucket")
})

t.test("given a large object, when AWS's client stores it in parts, then it exists once they are complete", async (t) => {
  const { client, emulator, place } = await open(t)
  const pieces = [Buffer.alloc(5 * 1024 * 1024, 1), Buffer.alloc(10, 2)]
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place))
  const Parts = []
  for (const [index, Body] of pieces.entries()) {
    const { ETag } = await client.send(new UploadPartCommand({ ...place, UploadId, PartNumber: index + 1, Body }))
    Parts.push({ ETag, PartNumber: index + 1 })
  }
  t.equal(emulator.objects.size, 0)
  await client.send(new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts } }))
  t.equal(emulator.objects.get("a/b.bin")?.bytes.compare(Buffer.concat(pieces)), 0)
  const other = await client.send(new CreateMultipartUploadCommand(place))
  await client.send(new AbortMultipartUploadCommand({ ...place, UploadId: other.UploadId }))
  t.equal(emulator.uploads.size, 0)
})

t.test("given faults, when AWS's client meets them, then it recognizes them", async (t) => {
  const { client, emulator, place } = await open(t)
  emulator.faultOf = () => ({ kind: "error", status: 503, code: "SlowDown" })
  t.equal(nameOf(await client.send(new PutObjectCommand({ ...place, Body: "x" })).catch((error: unknown) => error)), "SlowDown")
  t.equal(emulator.log.length, 2, "the client has retried once")
  const wrong = await open(t, "wrong")
  t.equal(nameOf(await wrong.client.send(new GetObjectCommand(wrong.place)).catch((error: unknown) => error)), "SignatureDoesNotMatch")
})
