/** A newcomer's first ten minutes by clicking alone: from an engine that is empty, by its set-up code, to the report of a campaign that called nobody. */
import t from "tap"
import { consolePages, ensureBuilt } from "#runtime/build.js"
import { isAccessible } from "#test/support/barriers.ts"
import { chromiumUnavailable, openPage } from "#test/support/chromium.ts"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { startEngine } from "#test/support/EngineProcess.ts"
import { choose, enter, press } from "#test/support/forms.ts"
import { openDatabase } from "#test/support/postgres.ts"

t.setTimeout(1_800_000)
const skip = (await chromiumUnavailable()) ?? false
ensureBuilt(consolePages)

t.test("given an engine that was just started, with nothing beside it", { skip }, async (t) => {
  const { url: database } = await openDatabase(t)
  const engine = await startEngine({ CALL_RATE: "10", DATABASE_URL: database, DATA_DIR: temporaryFolder(t), METRICS: "off", PORT: "0" })
  t.teardown(async () => {
    engine.kill("SIGTERM")
    await engine.exited
  })
  const [, code = ""] = /with the set-up code (\S+),/.exec(engine.output()) ?? []
  const page = await openPage(t)

  await t.test("when its address is opened and an account created", async (t) => {
    await page.open(`${engine.url}/`)
    await press(page, "Create an account")
    await isAccessible(t, page, "the page to create an account")
    await enter(page, "Set-up code", code)
    await enter(page, "E-mail address", "ada@example.org")
    await enter(page, "Password", "correct horse")
    await press(page, "Create an account")
    t.match(
      await page.text("main", /First steps/),
      /An account[\s\S]*A trunk[\s\S]*An agent[\s\S]*A campaign/,
      "then it says what comes next"
    )
    await isAccessible(t, page, "the first steps")
  })

  await t.test("when these steps are followed", async (t) => {
    await press(page, "use simulated phones for now")
    await page.text("main .steps .good:nth-child(2)", /A trunk/)
    await press(page, "Make one from a template")
    await enter(page, "Name", "Surgery")
    await press(page, "Create")
    await page.text("h1", /Surgery/)
    await page.open(`${engine.url}/console#/campaigns/new`)
    await enter(page, "Name", "Check-ups")
    await page.text("main", /Use 20 made-up numbers/)
    await press(page, "Use 20 made-up numbers")
    t.match(
      await page.text("p.good"),
      /^20 contacts of 20 rows can be called/,
      "then there are numbers that nobody has, with what the agent needs"
    )
    t.match(await page.text("form output"), /^At any time/, "whenever somebody tries it, because no phone rings")
    await enter(page, "Retries of a contact, at most", "0")
    await press(page, "Create campaign")
    await page.text("h1", /Check-ups/)
    await press(page, "Start")
    await press(page, "Start dialing")
    t.notMatch(await page.text(".head", /running/), /Edit/, "what would be refused now is not offered")
    await page.text(".head", /completed/)
    const reached = await page.evaluate(`fetch(document.querySelector("main .choices a").href).then((answer) => answer.text())`)
    t.equal(String(reached).trim().split("\n").length, 21, "and the report has a line for each call")
    await page.open(`${engine.url}/console#/now`)
    t.notMatch(await page.text("main", /Just happened/), /First steps/, "nobody needs the first steps any more")
  })

  await t.test("when somebody looks at who was reached", async (t) => {
    await page.open(`${engine.url}/console#/campaigns`)
    await press(page, "Check-ups")
    await page.text(".long", /answered/)
    await choose(page, "State", "not reached")
    await page.text(".long tbody", /^(?![\s\S]*\banswered)[\s\S]*busy/)
    await choose(page, "State", "All states")
    await enter(page, "Search by number", "550122")
    t.match(await page.text(".long tbody", /^\d+\s+\+12025550122(?![\s\S]*\+1202)/), /answered/, "then the list shows them alone")
  })
  t.strictSame(page.elsewhere, [], "the browser asked no other machine for anything")
})
