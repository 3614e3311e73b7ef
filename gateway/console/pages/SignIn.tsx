/** Signing in with an account or an API key. Either goes into a cookie that no script can read. */
import { useSignal } from "@preact/signals"
import type { TargetedSubmitEvent } from "preact"
import { ask, Refused } from "#gateway/console/base/api.ts"

const keep = (headers: Readonly<Record<string, string>>) => ask("POST", "/auth/browser", undefined, headers)

const signIn = async (fields: FormData): Promise<void> => {
  const text = (name: string) => String(fields.get(name) ?? "")
  if (text("key") !== "") return void (await keep({ "x-api-key": text("key") }))
  const { token } = await ask<{ readonly token: string }>("POST", "/auth/login", { email: text("email"), password: text("password") })
  await keep({ authorization: `Bearer ${token}` })
}

export const SignIn = ({ signedIn }: { readonly signedIn: () => void }) => {
  const withKey = useSignal(false)
  const refused = useSignal<string | undefined>(undefined)
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    refused.value = undefined
    try {
      await signIn(new FormData(event.currentTarget))
      signedIn()
    } catch (cause) {
      refused.value = cause instanceof Refused ? cause.message : String(cause)
    }
  }
  return (
    <main class="sign-in">
      <h1>Trunkline</h1>
      <form onSubmit={submit}>
        {withKey.value ? (
          <label>
            API key
            <input name="key" type="password" required autocomplete="off" spellcheck={false} />
          </label>
        ) : (
          <>
            <label>
              E-mail address
              <input name="email" type="email" required autocomplete="username" />
            </label>
            <label>
              Password
              <input name="password" type="password" required autocomplete="current-password" />
            </label>
          </>
        )}
        {refused.value === undefined ? null : (
          <p role="alert" class="fault">
            {refused.value}
          </p>
        )}
        <button type="submit" class="main">
          Sign in
        </button>
        <button
          type="button"
          class="link"
          onClick={() => {
            withKey.value = !withKey.value
          }}
        >
          {withKey.value ? "Use an account" : "Use an API key"}
        </button>
      </form>
    </main>
  )
}
