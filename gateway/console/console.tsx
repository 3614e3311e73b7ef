/** The console: signing in, the frame around its pages, and which page is shown. */
import { useSignal } from "@preact/signals"
import { render } from "preact"
import { useEffect } from "preact/hooks"
import { ask, isSignedOut, Refused, signedIn } from "./base/api.ts"
import "./console.css"
import { caller } from "./base/caller.ts"
import { connection, follow } from "./base/follow.ts"
import { useKeys } from "./base/keys.ts"
import { place } from "./base/router.ts"
import type { Caller } from "./base/types.ts"
import { Join } from "./pages/Join.tsx"
import { pageOf, pages } from "./pages/pages.tsx"
import { SignIn } from "./pages/SignIn.tsx"

const Connection = () =>
  connection.value.state === "live" ? (
    <output class="connection good">Live</output>
  ) : (
    <output class="connection bad">
      Cut off since {new Date(connection.value.since).toLocaleTimeString("en-GB")}: what is shown may be old
    </output>
  )

const letters = new Map(pages.map(({ letter, path }) => [letter, path]))

const Frame = ({ signOut }: { readonly signOut: () => void }) => {
  useEffect(follow, [])
  useKeys(letters)
  const [page = ""] = place.value
  const present = page === "" ? "now" : page
  return (
    <>
      <nav aria-label="Pages">
        <a class="name" href="#/now">
          Trunkline
        </a>
        {pages.map(({ letter, name, path }) => (
          <a key={path} href={`#/${path}`} aria-current={present === path ? "page" : undefined} title={`g ${letter}`}>
            {name}
          </a>
        ))}
        <Connection />
        <span class="caller">{caller.value?.email ?? "API key"}</span>
        <button type="button" class="link" onClick={signOut}>
          Sign out
        </button>
      </nav>
      <main>{pageOf(place.value)}</main>
    </>
  )
}

const AGAIN_MILLIS = 1000

/** Whether the cookie is still good is known once the API has been asked. */
const Console = () => {
  const isKnown = useSignal(false)
  const look = async () => {
    // Who was signed in before may have been somebody else.
    isKnown.value = false
    signedIn()
    try {
      caller.value = await ask<Caller>("GET", "/auth/browser")
    } catch (cause) {
      // Signed out, or the engine cannot answer at the moment.
      if (!(cause instanceof Refused)) throw cause
      if (cause.status !== 401) return void setTimeout(look, AGAIN_MILLIS)
    }
    isKnown.value = true
  }
  const signOut = async () => {
    // An API key cannot log out, and has no need to.
    await ask("POST", "/auth/logout").catch(() => {})
    await ask("DELETE", "/auth/browser")
    caller.value = undefined
    isSignedOut.value = true
  }
  useEffect(() => void look(), [])
  const [page, token] = place.value
  if (isSignedOut.value)
    return page === "invitation" && token !== undefined ? <Join token={token} signedIn={look} /> : <SignIn signedIn={look} />
  return isKnown.value ? <Frame signOut={signOut} /> : <p class="none">Loading</p>
}

const root = document.getElementById("app")
if (root !== null) render(<Console />, root)
