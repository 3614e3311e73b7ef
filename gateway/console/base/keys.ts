/** What can be done by the keyboard alone: `g` and a letter goes to a page, `/` to the page's search. */
import { useEffect } from "preact/hooks"
import { go } from "./router.ts"

const isTyping = ({ target }: KeyboardEvent): boolean => target instanceof HTMLElement && target.matches("input, textarea, select")

/** `pages`: the page of each letter. */
export const useKeys = (pages: ReadonlyMap<string, string>): void =>
  useEffect(() => {
    let isGoing = false
    const press = (event: KeyboardEvent) => {
      const { altKey, ctrlKey, key, metaKey } = event
      if (altKey || ctrlKey || metaKey || isTyping(event)) return
      const page = isGoing ? pages.get(key) : undefined
      if (page !== undefined) go(page)
      if (key === "/") {
        event.preventDefault()
        document.querySelector<HTMLInputElement>("input[type=search]")?.focus()
      }
      isGoing = key === "g"
    }
    addEventListener("keydown", press)
    return () => removeEventListener("keydown", press)
  }, [])
