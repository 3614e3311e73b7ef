/**
 * The console as its users see it, in a real browser that can reach only this machine: signing in, a campaign that runs meanwhile, a pause, an engine that
 * is killed and comes back, and a call. The callees' log shows what a click has done.
 */
import t from "tap"
import { consolePages, ensureBuilt } from "#runtime/build.js"
import { isAccessible } from "#test/support/barriers.ts"
import { chromiumUnavailable, openPage, type Page, withMicrophone } from "#test/support/chromium.ts"
import { numbersOf, World } from "#test/support/engine.ts"
import { freePort } from "#test/support/freePort.ts"
import { until, untilTrue } from "#test/support/until.ts"

t.setTimeout(1_800_000)
const skip = (await chromiumUnavailable()) ?? false
ensureBuilt(consolePages)

/** Beside the graph: a call to the draft, and a chat with it. */
const [call, chat] = [".beside > div .panel:nth-child(1)", ".beside > div .panel:nth-child(2)"]
const press = async (page: Page, name: string) => {
  const button = `[...document.querySelectorAll("button")].find((button) => button.textContent === ${JSON.stringify(name)})`
  await until(`button ${name}`, async () => (await page.evaluate(`${button} !== undefined`)) || undefined)
  await page.evaluate(`${button}.click()`)
}
const link = (name: string) => `[...document.querySelectorAll("a")].find((a) => a.textContent === ${JSON.stringify(name)})`
const follow = async (page: Page, name: string) => {
  await until(`link to ${name}`, async () => (await page.evaluate(`${link(name)} !== undefined`)) || undefined)
  await page.evaluate(`${link(name)}.click()`)
}

t.test("given the console in a browser", { skip }, async (t) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 50, talkMillis: 2500, talkOnceHeard: true },
    environment: { ORG_CONCURRENCY: "4", PORT: String(await freePort()) }
  })
  const page = await openPage(t, withMicrophone)
  const { api, emulator, engine } = world

  await t.test("when a wrong key is entered, and then the right one", async (t) => {
    await page.open(`${engine.url}/console`)
    await press(page, "Sign in with an API key")
    await page.enter("input[name=key]", "dgr_not_a_key")
    await page.click("button.main")
    t.match(await page.text("[role=alert]"), "Invalid or expired API key", "then it says why the first is refused")
    await isAccessible(t, page, "the page to sign in")
    await page.enter("input[name=key]", world.apiKey)
    await page.click("button.main")
    t.equal(await page.text("h1", /Now/), "Now", "then what happens now is shown")
    t.equal(await page.text(".connection", /Live/), "Live")
    t.equal(
      await page.evaluate("document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })"),
      "{}",
      "and no script can read the key"
    )
    t.match(page.complaints.splice(0), [/401/, /401/])
  })

  const numbers = numbersOf(300, ["01", "02"])
  const { id } = await world.campaign(numbers, { name: "Renewals", max_concurrency: 2 })
  await t.test("when a campaign is started elsewhere, and paused here", async (t) => {
    await api.start(id)
    t.match(await page.text(".panel td a", /Renewals/), "Renewals", "then it appears by itself")
    await world.seen("ended", 3)
    t.match(await page.text("table .figures", /[1-9]\d* reached/), /left$/, "with what has come of it")
    await isAccessible(t, page, "what happens now")
    await follow(page, "Renewals")
    t.match(await page.text(".head", /running/), /Renewals/)
    await page.text(".long tbody", /busy/)
    await page.click(".act button")
    await page.text(".head", /paused/)
    const dialed = emulator.log.count("originate")
    await untilTrue("end of all calls", () => emulator.live() === 0)
    t.equal(emulator.log.count("originate"), dialed, "then nobody is dialed any more")
    t.match(await page.text(".note"), /At any time, at most 2 calls at once/)
    await isAccessible(t, page, "a campaign")
  })

  await t.test("when a call is opened", async (t) => {
    await follow(page, "Open")
    await page.text("h2", /Conversation/)
    t.match(await page.text("main", /Good morning/), /Agent\s+Good morning\./, "then what was said is shown")
    await page.click(".panel .head button")
    await page.text(".transcript button.time")
    await page.click(".transcript button.time")
    t.match(await page.text(".transcript [aria-current]"), /Good morning/, "and heard from there, in step with the recording")
    await isAccessible(t, page, "a call")
  })

  await t.test("when an agent is made from a template, changed, tried in writing and published", async (t) => {
    await page.press("ga")
    await page.enter("input[name=workflow_name]", "Surgery")
    await page.click(".form button.main")
    await page.text("h1", /Surgery/)
    await until("the graph", async () =>
      (await page.evaluate(`document.querySelectorAll(".node").length > 5`)) === true ? true : undefined
    )
    await isAccessible(t, page, "an agent's graph")
    await follow(page, "JSON")
    await page.evaluate(`(() => {
      const area = document.querySelector("textarea.code")
      area.value = area.value.replace('"target": "remind"', '"target": "nobody"')
      area.dispatchEvent(new Event("input", { bubbles: true }))
    })()`)
    await page.click(".field .main")
    t.match(await page.text(".faults"), /^Line \d+ edges\.\d+\.target: /, "then a fault is shown at its place")
    await isAccessible(t, page, "an agent's JSON")
    await follow(page, "Graph")
    await press(page, "Edit as a draft")
    await page.text(".head", /draft/)
    await press(page, "Begin")
    t.match(await page.text(`${chat} .chat`), /Agent Hello, this is the assistant/, "and the draft answers")
    await page.text(".node.entered", /Reach the contact/)
    await page.enter("input[name=text]", "Yes, speaking.")
    await page.click(`${chat} .form .main`)
    await page.text(".node.entered", /Remind/)
    await isAccessible(t, page, "a chat")
    await press(page, "Call")
    t.match(
      await page.text("[aria-label=Graph] .entered", /Reach the contact/),
      /start call/,
      "the draft is called by microphone, its nodes light up"
    )
    t.match(await page.text(`${call} .transcript`, /Agent/), /Hello, this is the assistant/, "and what it says is heard and read")
    await page.text("[role=status]", /talking/)
    await isAccessible(t, page, "a call by microphone")
    await press(page, "Hang up")
    await follow(page, "The record of the call")
    await page.text("h1", /Call from the console/)
    await page.text("main", /user_hangup/)
    await page.evaluate("history.back()")
    await page.text("h1", /Surgery/)
    await page.click(".head .act button.main")
    await page.text(".head", /version 2, published/)
    await follow(page, "Versions")
    await page.text("table", /published/)
    await isAccessible(t, page, "an agent's versions")
  })

  await t.test("when a campaign is made from a list with a fault, and then from one without", async (t) => {
    await page.press("gc")
    await follow(page, "New campaign")
    await page.enter("input[name=name]", "Check-ups")
    await page.evaluate(`(() => {
      const select = document.querySelector("select[name=workflow_id]")
      select.value = [...select.options].find(({ text }) => text === "Reminder").value
      select.dispatchEvent(new Event("change", { bubbles: true }))
    })()`)
    const choose = (name: string, csv: string) =>
      page.evaluate(`(() => {
        const chosen = new DataTransfer()
        chosen.items.add(new File([${JSON.stringify(csv)}], ${JSON.stringify(name)}))
        const input = document.querySelector("input[type=file]")
        input.files = chosen.files
        input.dispatchEvent(new Event("change", { bubbles: true }))
      })()`)
    const dialed = emulator.log.count("originate")
    await choose("faulty.csv", "phone_number\n+15550900101\n0123\n+15550900101\n")
    t.match(
      await page.text("section[aria-label='Rows with a fault']"),
      /3/,
      "then the rows with a fault are named before anything is created"
    )
    await isAccessible(t, page, "a list with a fault")
    await choose("good.csv", "phone_number\n+15550900101\n+15550900202\n")
    await page.text("p.good", /2 contacts of 2 rows can be called/)
    await page.enter("input[name='retry_config.max_retries']", "0")
    await page.enter("input[name='retry_config.retry_delay_seconds']", "30")
    await page.click(".hours button")
    t.match(await page.text("output.note", /At any time/), /2 contacts are through by/, "and the limits are told in words")
    await isAccessible(t, page, "a new campaign")
    await press(page, "Create campaign")
    await page.text("h1", /Check-ups/)
    await page.click(".head button")
    await page.text("dialog", /2 people are called/)
    await isAccessible(t, page, "the question before the start")
    await page.click("dialog button:not(.main)")
    t.equal(emulator.log.count("originate"), dialed, "and the way out of the question dials nobody")
    await page.click(".head button")
    await page.click("dialog .main")
    await page.text(".head", /completed/)
    t.equal(emulator.log.count("originate"), dialed + 2, "but its other button does")
    await page.text(".long tbody", /not reached/)
  })

  await t.test("when the engine is killed and comes back", async (t) => {
    await page.press("gc")
    await page.text("h1", /Campaigns/)
    await world.end()
    t.match(await page.text(".connection", /Cut off/), /what is shown may be old/, "then the page says that it is cut off")
    await world.launch()
    await page.text(".connection", /Live/)
    await world.campaign(numbers.slice(0, 1), { name: "Reminders" })
    t.match(await page.text("main table", /Reminders/), /Renewals/, "and it goes on once the engine is back")
    await isAccessible(t, page, "the list of campaigns")
  })

  await t.test("when its user signs out", async (t) => {
    page.complaints.splice(0)
    await page.press("gn")
    await page.text("section[aria-label='Just happened']", /Reminders/)
    await press(page, "Sign out")
    t.match(await page.text("h1", /Trunkline/), "Trunkline")
    await press(page, "Sign in with an API key")
    await page.enter("input[name=key]", world.apiKey)
    await page.click("button.main")
    const happened = await page.text("main", /Just happened/)
    t.match(happened, /Nothing since this page was opened/, "then what they saw is gone, whoever signs in")
    await press(page, "Sign out")
    await page.text("h1", /Trunkline/)
    await page.open(`${world.engine.url}/console#/campaigns`)
    await page.text(".sign-in h1")
    t.equal(await page.evaluate(`document.querySelector("table")`), null, "then nothing is shown to whoever comes next")
  })
  t.strictSame(page.elsewhere, [], "the browser asked no other machine for anything")
})
