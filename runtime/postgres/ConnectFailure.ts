/** Why no connection to the database came about: whether waiting helps, and how to say it. */
import type { SqlError } from "effect/sql"

/**
 * SQLSTATE codes of a server that will accept connections later: the connection failed, resources are exhausted (among them connections), the
 * server stops or starts. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const passingState = /^(08...|53...|57P0[1-3])$/
/** The names of system errors, of sockets and of name resolution. EPROTO is a failed TLS handshake. */
const systemError = /^(?!EPROTO$)(E[A-Z0-9]+|EAI_[A-Z]+)$/
/** Attempts without a code that were cut or took too long, in the words of `@effect/sql-pg`. */
const cut = /: Connection (timed out|closed during startup)$/

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Object && "code" in cause && typeof cause.code === "string" ? cause.code : undefined

/** Whether the same attempt may succeed later, without anybody changing a setting. */
export const mayPass = ({ reason }: SqlError.SqlError): boolean => {
  const code = codeOf(reason.cause)
  if (code !== undefined) return passingState.test(code) || systemError.test(code)
  return reason._tag === "ConnectionError" && (reason.operation !== "connect" || cut.test(reason.message))
}

/** A log-in that the server's rules allow only the other way, with or without encryption. */
const ruledOut = "28000"

/** Of the failures of both ways to connect, the one that says what is wrong. */
export const telling = (first: SqlError.SqlError, second: SqlError.SqlError): SqlError.SqlError => {
  const code = codeOf(first.reason.cause)
  return mayPass(second) || code === undefined || code === ruledOut ? second : first
}

/** In the server's or Node's own words, which contain no password. */
export const reasonOf = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  cause instanceof Error && cause.message !== "" ? cause.message : message
