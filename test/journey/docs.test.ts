/**
 * `/docs` as a person uses it, in a real browser that can reach only this machine: from the key to the calls of a campaign, and then a single
 * call, sent from the reference. The callees' log shows what was sent.
 */
import t from "tap"
import { chromiumUnavailable, openPage, type Page } from "#test/support/chromium.ts"
import { World } from "#test/support/engine.ts"
import { until } from "#test/support/until.ts"

t.setTimeout(1_800_000)
const unavailable = await chromiumUnavailable()
const skip = unavailable ?? false

/** The fragment that the address bar and a bookmark contain. */
const operation = (name: string) => `#operations-${name}`
const step = (number: number) => `#steps > li:nth-child(${number})`

/** Resolves with what the page shows as the answer. */
const sendStep = async (page: Page, number: number): Promise<string> => {
  await page.click(`${step(number)} button`)
  return await page.text(`${step(number)} .answer`, /^\d{3}\n/)
}

t.test("given the page in a browser", { skip }, async (t) => {
  const world = await World.open(t)
  const page = await openPage(t)
  const { engine, emulator } = world

  await t.test("when it is opened", async (t) => {
    await page.open(`${engine.url}/docs`)
    await page.text(operation("Campaigns-createCampaign"))
    t.equal(await page.evaluate("location.pathname"), "/docs", "then it is the documentation")
    t.match(await page.text("#guide h2"), /From the API key to the first campaign/, "which begins with the first steps")
    t.equal(await page.evaluate("document.querySelectorAll('#steps > li').length"), 7)
  })

  await t.test("when a wrong key is entered, and then the right one", async (t) => {
    await page.enter("#key", "not-a-key")
    t.match(await page.text("#caller", /refused/), /refused \(401\)/, "then the page says of the first that it is refused")
    // A browser reports each 4xx answer as an error; this one was intended.
    await until("report of it", () => page.complaints[0])
    t.match(page.complaints.splice(0), [/401/])
    await page.enter("#key", world.apiKey)
    t.equal(await page.text("#caller", /works/), "The key works.", "and of the second that it works")
  })

  await t.test("when each of the first steps is sent, with a new account and list", async (t) => {
    const account = { provider: "ari", ari_endpoint: emulator.url, app_name: emulator.user, app_password: emulator.password }
    await page.enter(`${step(1)} textarea`, JSON.stringify({ name: "mine", is_default_outbound: true, config: account }))
    await page.enter(`${step(4)} textarea`, "phone_number,first_name\n+15550107701,Ada\n+15550107702,Bea\n")
    for (const number of [1, 2, 3, 4, 5, 6]) {
      t.match(await sendStep(page, number), /^200\n/, `then step ${number} is answered`)
    }
    const campaign = await page.text(`${step(6)} .answer`)
    t.match(campaign, /"state": "running"/, "and the campaign runs")
    await world.seen("originate", 2)
    t.strictSame(
      emulator.log.entries
        .filter(({ kind }) => kind === "originate")
        .map(({ number }) => number)
        .sort(),
      ["+15550107701", "+15550107702"],
      "and the people on the list are called"
    )
    await until("progress of both", async () => /"processed": 2/.test(await sendStep(page, 7)) || undefined)
  })

  await t.test("when an operation is opened by its address, filled in and executed", async (t) => {
    await page.open("about:blank")
    await page.open(`${engine.url}/docs#/Calls/startCall`)
    const call = operation("Calls-startCall")
    await page.enter(`${call} input[placeholder=workflow_uuid]`, world.agentUuid)
    await page.enter(`${call} textarea`, JSON.stringify({ phone_number: "+15550107703" }))
    await page.click(`${call} .execute`)
    const answer = await page.text(`${call} .live-responses-table tbody .response-col_description`, /"/)
    const [run] = await world.sql<Array<{ id: number }>>`SELECT id FROM runs WHERE campaign_id IS NULL`
    t.match(
      answer,
      new RegExp(`"workflow_run_id": ${run?.id}\\b`),
      "then the answer that is shown is the engine's, without the key entered again"
    )
    await world.seen("originate", 3)
    t.equal(emulator.log.entries.filter(({ number }) => number === "+15550107703").length > 0, true, "and the phone rings")
  })

  await t.test("when its examples are unfolded", async (t) => {
    const call = operation("Calls-startCall")
    await page.click(`${call} .examples details:nth-child(1) summary`)
    await page.click(`${call} .examples details:nth-child(2) summary`)
    t.match(
      await page.text(`${call} .examples details:nth-child(1) pre`),
      `curl -X POST '${engine.url}/api/v1/public/agent/workflow/{workflow_uuid}'`
    )
    t.match(
      await page.text(`${call} .examples details:nth-child(2) pre`),
      `await fetch("${engine.url}/api/v1/public/agent/workflow/{workflow_uuid}"`
    )
  })

  t.strictSame(page.complaints, [], "nothing was blocked by the page's policy, and nothing went wrong in it")
  t.strictSame(page.elsewhere, [], "the browser asked no other machine for anything")
  const strays = page.requests.filter(({ failure, url }) => failure !== undefined || new URL(url).origin !== new URL(engine.url).origin)
  t.strictSame(strays, [], "every request went to the engine, and none failed")
})
