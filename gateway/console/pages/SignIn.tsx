/** Signing in with an account or an API key, or with a new account. The credential goes into a cookie that no script can read. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { ask } from "#gateway/console/base/api.ts"
import { entered, Form, TextField } from "#gateway/console/base/Form.tsx"

/** Puts the credential in these headers into the cookie. */
export const keep = (headers: Readonly<Record<string, string>>) => ask("POST", "/auth/browser", undefined, headers)

interface Session {
  readonly token: string
}
const withToken = ({ token }: Session) => keep({ authorization: `Bearer ${token}` })

const Account = ({ isNew }: { readonly isNew: boolean }) => (
  <>
    <TextField name="email" label="E-mail address" type="email" autocomplete="username" isRequired />
    <TextField name="password" label="Password" type="password" autocomplete={isNew ? "new-password" : "current-password"} isRequired />
  </>
)

const ways: Readonly<
  Record<
    "account" | "key" | "new",
    { readonly name: string; readonly fields: () => ComponentChildren; readonly enter: (fields: FormData) => Promise<unknown> }
  >
> = {
  account: {
    name: "Sign in with an account",
    fields: () => <Account isNew={false} />,
    enter: async (fields) =>
      withToken(await ask<Session>("POST", "/auth/login", { email: entered(fields, "email"), password: fields.get("password") }))
  },
  key: {
    name: "Sign in with an API key",
    fields: () => <TextField name="key" label="API key" type="password" isRequired />,
    enter: (fields) => keep({ "x-api-key": entered(fields, "key") ?? "" })
  },
  new: {
    name: "Create an account",
    fields: () => (
      <>
        <TextField
          name="setup_code"
          label="Set-up code"
          hint="For the first account: the code that the engine printed when it was started. Others open the link of their invitation."
        />
        <Account isNew />
      </>
    ),
    enter: async (fields) => {
      const { email, ...rest } = Object.fromEntries([...fields].filter(([, value]) => value !== ""))
      return withToken(await ask<Session>("POST", "/auth/signup", { ...rest, email }))
    }
  }
}
type Way = keyof typeof ways
// The keys of a constant object are known.
const names = Object.keys(ways) as ReadonlyArray<Way>

export const SignIn = ({ signedIn }: { readonly signedIn: () => void }) => {
  const way = useSignal<Way>("account")
  const { enter, fields, name } = ways[way.value]
  const submit = async (given: FormData) => {
    await enter(given)
    signedIn()
  }
  return (
    <main class="sign-in">
      <h1>Trunkline</h1>
      <Form key={way.value} label={name} submit={submit}>
        {fields()}
      </Form>
      <p class="choices">
        {names
          .filter((other) => other !== way.value)
          .map((other) => (
            <button
              key={other}
              type="button"
              class="link"
              onClick={() => {
                way.value = other
              }}
            >
              {ways[other].name}
            </button>
          ))}
      </p>
    </main>
  )
}
