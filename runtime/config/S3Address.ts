/** The address of a bucket, as given by `FILES_URL`: `s3://bucket/prefix?region=eu-central-1&endpoint=https://host:9000`. */
import { Schema } from "effect"
import { mapped } from "./Variable.ts"

const defaultRegion = "us-east-1"
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
// Nothing that would have to be encoded in a path, and no `..`.
const prefixPath = /^(?:\/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}){0,5}\/?$/
const regionName = /^[a-z0-9-]{1,50}$/

const Fields = Schema.Struct({
  bucket: Schema.String,
  /** Empty, or ends with a slash. */
  prefix: Schema.String,
  region: Schema.String,
  /** The bucket's URL, to which the prefix and an object's key are appended. */
  base: Schema.String
})
export type S3Address = typeof Fields.Type

const isOrigin = (endpoint: string): boolean => {
  const url = URL.parse(endpoint)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && `${url.origin}/` === url.href
}

const isAddress = (text: string): boolean => {
  const url = URL.parse(text)
  if (url?.protocol !== "s3:" || url.username !== "" || url.password !== "" || url.port !== "" || url.hash !== "") return false
  const { endpoint, region, ...others } = Object.fromEntries(url.searchParams)
  return (
    bucketName.test(url.hostname) &&
    prefixPath.test(url.pathname) &&
    (region === undefined || regionName.test(region)) &&
    (endpoint === undefined || isOrigin(endpoint)) &&
    Object.keys(others).length === 0
  )
}

/**
 * A custom endpoint is addressed by path. At AWS the bucket is in the host name, unless a dot in it would break the match with the certificate.
 */
const bucketUrl = (bucket: string, region: string, endpoint: string | null): string => {
  if (endpoint !== null) return `${new URL(endpoint).origin}/${bucket}/`
  return bucket.includes(".") ? `https://s3.${region}.amazonaws.com/${bucket}/` : `https://${bucket}.s3.${region}.amazonaws.com/`
}

const addressOf = (text: string): S3Address => {
  const { hostname: bucket, pathname, searchParams } = new URL(text)
  const region = searchParams.get("region") ?? defaultRegion
  const prefix = pathname.replace(/^\//, "").replace(/([^/])$/, "$1/")
  return { bucket, prefix, region, base: bucketUrl(bucket, region, searchParams.get("endpoint")) }
}

export const s3Address = mapped(Schema.String.check(Schema.makeFilter(isAddress)), Fields, addressOf)
