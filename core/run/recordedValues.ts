/** SQL for the values that lists and reports read out of a run's JSON. The statement calls the runs `r`. */
import type { RunRecord } from "./RunRecord.ts"

const json = <Column extends keyof RunRecord>(column: Column, key: keyof RunRecord[Column] & string) => `(r.${column} -> '${key}')`
const text = <Column extends keyof RunRecord>(column: Column, key: keyof RunRecord[Column] & string) => `(r.${column} ->> '${key}')`

const variables = json("gathered_context", "extracted_variables")
const tags = json("gathered_context", "call_tags")

export const callerNumberSql = text("initial_context", "caller_number")
export const calledNumberSql = text("initial_context", "called_number")
/** Runs of older engines have only `phone_number`. */
export const phoneNumberSql = `coalesce(${calledNumberSql}, ${text("initial_context", "phone_number")})`
export const dispositionSql = text("gathered_context", "mapped_call_disposition")
export const durationSql = `${text("usage_info", "call_duration_seconds")}::float8`
export const costSql = `${text("cost_info", "total_cost_usd")}::float8`
/** For sums, which must be exact. */
export const exactCostSql = `${text("cost_info", "total_cost_usd")}::numeric`
/** Always an object, whatever is stored. */
export const variablesSql = `CASE jsonb_typeof${variables} WHEN 'object' THEN ${variables} ELSE '{}' END`
/** Always an array, whatever is stored. */
export const tagsSql = `CASE jsonb_typeof${tags} WHEN 'array' THEN ${tags} ELSE '[]' END`
/** Reports count calls only, and a text chat is not a call. */
export const isCallSql = "r.mode NOT IN ('textchat', 'CHAT')"
