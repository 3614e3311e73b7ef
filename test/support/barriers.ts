/** Whether everybody can use a page of the console. */
import axe from "axe-core"
import type { Test } from "tap"
import type { Page } from "./chromium.ts"

/** What people with one disability or another could not use, in both schemes and two widths. */
const barriers = async (page: Page): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  await page.evaluate(axe.source)
  for (const width of [390, 1440])
    for (const scheme of ["dark", "light"] as const) {
      await page.appear(width, scheme)
      const checked = `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`
      const overflow = `document.documentElement.scrollWidth > innerWidth ? ["wider than the window"] : []`
      for (const what of [...((await page.evaluate(checked)) as Array<string>), ...((await page.evaluate(overflow)) as Array<string>)])
        found.push(`${width} ${scheme} ${what}`)
    }
  return found
}

export const isAccessible = async (t: Test, page: Page, what: string) => t.strictSame(await barriers(page), [], `${what} keeps nobody out`)
