/** Using a page as people do: by what is written on its buttons and beside its fields. */
import type { Page } from "./chromium.ts"
import { until } from "./until.ts"

/** Marks the element for `Page.enter`, once it is there; the last of several that match is meant. */
const marked = async (page: Page, what: string, expression: string): Promise<string> => {
  const mark = `(() => {
    const element = (${expression}).at(-1)
    for (const one of document.querySelectorAll("[data-meant]")) delete one.dataset.meant
    if (element === undefined) return false
    element.dataset.meant = ""
    return true
  })()`
  await until(what, async () => (await page.evaluate(mark)) === true || undefined)
  return "[data-meant]"
}

const shown = `(element) => element.checkVisibility()`
const buttons = (name: string) =>
  `[...document.querySelectorAll("button, summary, main a")].filter((one) => (one.ariaLabel ?? one.innerText).trim() === ${JSON.stringify(name)}).filter(${shown})`
const fields = (label: string) =>
  `[...document.querySelectorAll("input, select, textarea")].filter((one) => (one.ariaLabel ?? one.labels[0]?.innerText ?? "").trim() === ${JSON.stringify(label)}).filter(${shown})`

/** Clicks on it in the same turn as it is found, because a page that reads something again may replace it; and only if nothing covers it. */
const clicked = async (page: Page, what: string, expression: string): Promise<void> => {
  const click = `(() => {
    const element = (${expression}).at(-1)
    if (element === undefined || element.disabled) return false
    element.scrollIntoView({ block: "center", behavior: "instant" })
    const { x, y, width, height } = element.getBoundingClientRect()
    const hit = document.elementFromPoint(x + width / 2, y + height / 2)
    if (hit === null || !(element.contains(hit) || hit.contains(element))) return false
    element.click()
    return true
  })()`
  await until(what, async () => (await page.evaluate(click)) === true || undefined)
}

/** Presses a button, or follows a link. */
export const press = (page: Page, name: string): Promise<void> => clicked(page, `button ${name}`, buttons(name))

export const enter = async (page: Page, label: string, text: string): Promise<void> =>
  page.enter(await marked(page, `field ${label}`, fields(label)), text)

/** Ticks a box. */
export const tick = (page: Page, label: string): Promise<void> => clicked(page, `box ${label}`, fields(label))

/** Chooses from a list, by what it shows. */
export const choose = async (page: Page, label: string, option: string): Promise<void> => {
  const change = `(() => {
    const list = (${fields(label)}).at(-1)
    const wanted = [...(list?.options ?? [])].find(({ label }) => label === ${JSON.stringify(option)})
    if (wanted === undefined) return false
    list.value = wanted.value
    list.dispatchEvent(new Event("change", { bubbles: true }))
    return true
  })()`
  await until(`${option} in list ${label}`, async () => (await page.evaluate(change)) === true || undefined)
}

/** What is said to be wrong with a field, once something is. */
export const faultAt = (page: Page, label: string): Promise<string> => {
  const described = `(${fields(label)}).flatMap((one) => (one.getAttribute("aria-describedby") ?? "").split(" "))`
  const alerts = `${described}.map((id) => document.getElementById(id)).filter((one) => one?.role === "alert").map((one) => one.innerText)`
  return until(`fault of ${label}`, async () => {
    const fault = await page.evaluate(`${alerts}.at(0)`)
    return typeof fault === "string" ? fault : undefined
  })
}

/** The names of all buttons that are shown in the page's main part, and of the links beside its titles. */
export const buttonsOf = async (page: Page): Promise<ReadonlyArray<string>> =>
  // Cast: a list of texts.
  (await page.evaluate(
    `[...document.querySelectorAll("main button, main summary, main header a")].filter(${shown}).map((one) => one.ariaLabel ?? one.innerText)`
  )) as Array<string>
