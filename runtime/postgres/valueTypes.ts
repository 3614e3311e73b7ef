/** How values travel that the driver would decode differently. An int8 is decoded as a number if it fits. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export const valueTypes = PgTypes.makeRegistry()
valueTypes.register<number | bigint>(PgTypes.OID.int8, {
  encode: (value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(BigInt(value))
    return Result.succeed(new Uint8Array(bytes))
  },
  decode: (bytes) => {
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigInt64BE()
    return Result.succeed(Number.isSafeInteger(Number(value)) ? Number(value) : value)
  }
})
