/** The installation's settings for logging in: how passwords are hashed, how tokens are signed, and who may sign up. */
import { Effect, Layer } from "effect"
import { InstallationSecrets } from "#core/organization/InstallationSecrets.ts"
import { SignupPolicy } from "#core/organization/SignUp.ts"
import { Config } from "#runtime/config/config.ts"
import * as passwords from "./passwords.ts"
import * as tokens from "./tokens.ts"

export const layer = Layer.unwrap(
  Effect.map(Config, ({ jwtSecret, orgConcurrency, signup }) =>
    Layer.mergeAll(
      passwords.layer(),
      tokens.layer(jwtSecret).pipe(Layer.provide(InstallationSecrets.layer)),
      Layer.succeed(SignupPolicy, { mode: signup, concurrencyLimit: orgConcurrency })
    )
  )
)
