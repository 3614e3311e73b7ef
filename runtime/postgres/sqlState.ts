/** Why statements failed, judged from defects that no store has turned into a domain error. */
import { Cause } from "effect"
import { SqlError } from "effect/sql"

interface SqlFailure {
  readonly tag: SqlError.SqlError["reason"]["_tag"]
  /** The SQLSTATE, five characters; empty if the server did not answer. */
  readonly state: string
}

/** SQLSTATE classes: data exceptions, violated constraints, and limits of the server. */
const contentState = /^(22|23|54)/

/** Whether the database refuses a statement's content, and so will refuse it again. */
export const isRefusedForContent = (cause: Cause.Cause<unknown>): boolean =>
  sqlFailuresOf(cause).some(({ state }) => contentState.test(state))

/** SQLSTATE classes: lost connections, exhausted resources, and operators who stop the server or a statement. */
const awayState = /^(|08.*|53.*|57.*)$/

/** Whether the database failed before it could judge a statement, so that any other statement is as likely to fail. */
export const isAway = (cause: Cause.Cause<unknown>): boolean => sqlFailuresOf(cause).some(({ state }) => awayState.test(state))

export const sqlFailuresOf = (cause: Cause.Cause<unknown>): ReadonlyArray<SqlFailure> =>
  cause.reasons.flatMap((reason) => {
    if (!Cause.isDieReason(reason) || !SqlError.isSqlError(reason.defect)) return []
    const { _tag: tag, cause: driver } = reason.defect.reason
    return [{ tag, state: driver instanceof Object && "code" in driver && typeof driver.code === "string" ? driver.code : "" }]
  })
