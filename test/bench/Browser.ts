/** A page of the console in a real browser, signed in. */
import { Effect, type Scope } from "effect"
import { setPriority } from "node:os"
import { chromiumUnavailable, openPage, type Page } from "#test/support/chromium.ts"

/** A page in a browser that goes before other work, because it judges by its clock; its processes inherit the priority with which they are started. */
export const openBrowser: Effect.Effect<Page, never, Scope.Scope> = Effect.gen(function* () {
  const unavailable = yield* Effect.promise(chromiumUnavailable)
  if (unavailable !== undefined) return yield* Effect.die(new Error(unavailable))
  const ends: Array<() => unknown> = []
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      for (const end of ends.reverse()) await end()
    })
  )
  // Only root may raise a priority.
  const prioritize = (niceness: number) => (process.getuid?.() === 0 ? setPriority(niceness) : undefined)
  prioritize(-10)
  const page = yield* Effect.promise(() => openPage({ teardown: (end) => void ends.push(end) }))
  prioritize(0)
  return page
})

export const signIn = async (page: Page, site: string, key: string) => {
  await page.open(`${site}/console`)
  const kept = `fetch("/api/v1/auth/browser", { method: "POST", headers: { "x-api-key": ${JSON.stringify(key)} } }).then(({ status }) => status)`
  const status = await page.evaluate(kept)
  if (status !== 200) throw new Error(`signing in was answered ${String(status)}`)
}
