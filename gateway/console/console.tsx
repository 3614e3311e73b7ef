/** The console: signing in, the frame around its pages, and which page is shown. */
import { useSignal } from "@preact/signals"
import { render } from "preact"
import { useEffect } from "preact/hooks"
import { ask, isSignedOut, Refused } from "./base/api.ts"
import "./console.css"
import { connection, follow } from "./base/follow.ts"
import { Campaign } from "./pages/Campaign.tsx"
import { Campaigns } from "./pages/Campaigns.tsx"
import { Now } from "./pages/Now.tsx"
import { Run } from "./pages/Run.tsx"
import { SignIn } from "./pages/SignIn.tsx"
import { go, place } from "./base/router.ts"

const Page = () => {
  const [page = "", first, second] = place.value
  if (page === "campaigns" && first !== undefined) return <Campaign key={first} id={first} />
  if (page === "campaigns") return <Campaigns />
  if (page === "runs" && first !== undefined && second !== undefined) return <Run key={second} agent={first} id={second} />
  return <Now />
}

const pages = [
  ["now", "Now", "n"],
  ["campaigns", "Campaigns", "c"]
] as const

/** `g` and then the page's letter goes there, unless something is being typed. */
const useKeys = () =>
  useEffect(() => {
    let isGoing = false
    const press = ({ ctrlKey, key, metaKey, target }: KeyboardEvent) => {
      if (ctrlKey || metaKey || (target instanceof HTMLElement && target.matches("input, textarea, select"))) return
      const [page] = isGoing ? (pages.find(([, , letter]) => letter === key) ?? []) : []
      if (page !== undefined) go(page)
      isGoing = key === "g"
    }
    addEventListener("keydown", press)
    return () => removeEventListener("keydown", press)
  }, [])

const Connection = () =>
  connection.value.state === "live" ? (
    <output class="connection good">Live</output>
  ) : (
    <output class="connection bad">
      Cut off since {new Date(connection.value.since).toLocaleTimeString("en-GB")}: what is shown may be old
    </output>
  )

const Frame = ({ signOut }: { readonly signOut: () => void }) => {
  useEffect(follow, [])
  useKeys()
  const [page = ""] = place.value
  return (
    <>
      <nav aria-label="Pages">
        <a class="name" href="#/now">
          Trunkline
        </a>
        {pages.map(([path, name, letter]) => (
          <a key={path} href={`#/${path}`} aria-current={(page === "" ? "now" : page) === path ? "page" : undefined} title={`g ${letter}`}>
            {name}
          </a>
        ))}
        <Connection />
        <button type="button" class="link" onClick={signOut}>
          Sign out
        </button>
      </nav>
      <main>
        <Page />
      </main>
    </>
  )
}

/** Whether the cookie is still good is known once the API has been asked. */
const Console = () => {
  const isKnown = useSignal(false)
  const look = async () => {
    isSignedOut.value = false
    try {
      await ask("GET", "/organizations/context")
    } catch (cause) {
      if (!(cause instanceof Refused)) throw cause
    }
    isKnown.value = true
  }
  const signOut = async () => {
    // An API key cannot log out, and has no need to.
    await ask("POST", "/auth/logout").catch(() => {})
    await ask("DELETE", "/auth/browser")
    isSignedOut.value = true
  }
  useEffect(() => void look(), [])
  if (isSignedOut.value) return <SignIn signedIn={look} />
  return isKnown.value ? <Frame signOut={signOut} /> : null
}

const root = document.getElementById("app")
if (root !== null) render(<Console />, root)
