/** User tokens as JWTs, signed with HS256. The secret is the operator's, or one that the nodes share through the database. */
import { Clock, Effect, Layer, Redacted } from "effect"
import { jwtVerify, SignJWT } from "jose"
import { UserId } from "#core/organization/Caller.ts"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"
import { SessionId } from "#core/organization/Session.ts"
import { InvalidToken, sessionHours, Tokens } from "#core/organization/Tokens.ts"
import { isCanonicalUuid } from "#core/Uuid.ts"

const lifetimeSeconds = sessionHours * 3600
const algorithm = "HS256"
const secretName = "jwt"
const userIdText = /^[1-9]\d{0,8}$/

export const tokensOf = (secret: Redacted.Redacted): Tokens["Service"] => {
  const key = new TextEncoder().encode(Redacted.value(secret))
  return {
    issue: ({ email, id }, session) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const seconds = Math.floor(now / 1000)
        return Effect.promise(() =>
          new SignJWT({ email })
            .setProtectedHeader({ alg: algorithm, typ: "JWT" })
            .setSubject(String(id))
            .setJti(session)
            .setIssuedAt(seconds)
            .setExpirationTime(seconds + lifetimeSeconds)
            .sign(key)
        )
      }),
    verify: (token) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.tryPromise({
          try: () => jwtVerify(token, key, { algorithms: [algorithm], currentDate: new Date(now), requiredClaims: ["sub", "exp"] }),
          catch: () => new InvalidToken()
        })
      ).pipe(
        Effect.flatMap(({ payload: { jti, sub } }) =>
          sub !== undefined && userIdText.test(sub)
            ? Effect.succeed({
                userId: UserId.make(Number(sub)),
                sessionId: jti !== undefined && isCanonicalUuid(jti) ? SessionId.make(jti) : undefined
              })
            : Effect.fail(new InvalidToken())
        )
      )
  }
}

/** `given` is the operator's secret. If it is undefined, the installation's own secret is used. */
export const layer = (given: Redacted.Redacted | undefined) =>
  Layer.effect(
    Tokens,
    Effect.map(given === undefined ? InstallationSecrets.use((secrets) => secrets.get(secretName)) : Effect.succeed(given), tokensOf)
  )
