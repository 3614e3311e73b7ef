/** Accepting an invitation: with a new account, or with the one that somebody has already. */
import { ask } from "#gateway/console/base/api.ts"
import { entered, Form, TextField } from "#gateway/console/base/Form.tsx"
import { Act } from "#gateway/console/base/Parts.tsx"
import { go } from "#gateway/console/base/router.ts"
import { keep } from "./SignIn.tsx"

/** For people who are not signed in. */
export const Join = ({ signedIn, token }: { readonly signedIn: () => void; readonly token: string }) => {
  const join = async (form: FormData) => {
    const account = { email: entered(form, "email"), password: String(form.get("password")), name: entered(form, "name") ?? null }
    const made = await ask<{ readonly token: string }>("POST", "/auth/signup", { ...account, invitation_token: token })
    await keep({ authorization: `Bearer ${made.token}` })
    go("now")
    signedIn()
  }
  return (
    <main class="sign-in">
      <h1>Trunkline</h1>
      <p>You are invited. If you already have an account here, use its password.</p>
      <Form label="Join" submit={join}>
        <TextField name="email" label="E-mail address" type="email" autocomplete="username" isRequired />
        <TextField name="name" label="Name (optional)" autocomplete="name" />
        <TextField name="password" label="Password" type="password" autocomplete="new-password" isRequired hint="At least 8 characters" />
      </Form>
    </main>
  )
}

/** For people who are signed in. */
export const Switch = ({ token }: { readonly token: string }) => (
  <>
    <h1>Invitation</h1>
    <p>You are invited to another organization. After you join, these pages show that one.</p>
    <Act
      label="Join"
      isMain
      act={async () => {
        await ask("POST", "/user/invitations/redeem", { token })
        go("now")
        // Everything that has been read is of the organization before.
        location.reload()
      }}
    />
  </>
)
