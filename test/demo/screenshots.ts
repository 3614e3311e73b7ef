/**
 * Makes the pictures of the console in the project's README: a campaign whose callees talk with an agent is run through a simulated Asterisk, and the console is
 * looked at meanwhile. `npm run screenshots -- FOLDER` writes them there instead of to `deploy/screenshots`.
 */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { appointmentReminder } from "#core/agent/templates/appointmentReminder.ts"
import { consolePages, ensureBuilt } from "#runtime/build.js"
import { startAriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { makeTalker } from "#test/emulators/shared/Talker.ts"
import { chromiumUnavailable, openPage, type Page } from "#test/support/chromium.ts"
import { recognizerName } from "#test/support/installRecognizer.ts"
import { knownSpeechOf } from "#test/support/knownSpeech.ts"
import { until } from "#test/support/until.ts"
import { Api, type Run } from "./Api.ts"
import { example, lists, movesOf, speech } from "./Clinic.ts"
import { DemoFailed } from "./DemoFailed.ts"
import { startService } from "./Service.ts"

const data = fileURLToPath(new URL("../../.data/screenshots", import.meta.url))
const folder = process.argv[2] ?? fileURLToPath(new URL("../../deploy/screenshots", import.meta.url))
const width = 1280
/** Of the organization, and of its two campaigns. */
const slots = { all: 16, checkUps: 10, vaccinations: 2 }
const rate = 4
const ringMillis = 1500
const ringSeconds = 15
const maxCallSeconds = 90
/** Longer than a conversation takes: the agent hangs up. */
const patienceMillis = 80_000
const retryDelaySeconds = 60
/** Contacts that are through when the pictures are made: so that there is something to see, and calls go on. */
const seen = { now: 50, campaign: 130 }

/** Stops what was started, to be run in reverse order. */
const stops: Array<() => unknown> = []

const prepare = async (api: Api, config: Readonly<Record<string, string>>) => {
  await api.ready()
  const telephony = await api.createTelephonyConfig("Clinic trunk", config)
  const agent = await api.createAgent("Appointment reminder", appointmentReminder.definition)
  const configurations = {
    max_call_duration: maxCallSeconds,
    model_overrides: { stt: { provider: recognizerName } },
    voicemail_detection: { enabled: true }
  }
  await api.configureAgent(agent.id, configurations, example)
  const campaign = async (name: string, list: string, most: number) =>
    api.createCampaign({
      name,
      workflow_id: agent.id,
      source_type: "csv",
      source_id: await api.upload(`${name}.csv`, list),
      telephony_configuration_id: telephony.id,
      max_concurrency: most,
      retry_config: { max_retries: 1, retry_delay_seconds: retryDelaySeconds, retry_on_voicemail: false }
    })
  const checkUps = await campaign("Check-ups, spring", lists.checkUps, slots.checkUps)
  const vaccinations = await campaign("Vaccinations", lists.vaccinations, slots.vaccinations)
  for (const { id } of [checkUps, vaccinations]) await api.startCampaign(id)
  return { agent, checkUps }
}

const signIn = async (page: Page, url: string, key: string) => {
  await page.open(`${url}/console`)
  await page.evaluate(`fetch("/api/v1/auth/browser", { method: "POST", headers: { "x-api-key": ${JSON.stringify(key)} } })`)
}

const margin = 16
/** Makes the window as high as what ends with the element. */
const showUntilEnd = async (page: Page, scheme: "dark" | "light", selector: string) => {
  const bottom = await page.evaluate(`scrollY + document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().bottom`)
  await page.appear(width, scheme, Math.ceil(Number(bottom)) + margin)
}

const shoot = async (page: Page, name: string) => {
  await page.evaluate("scrollTo(0, 0)")
  const file = join(folder, `${name}.webp`)
  const picture = await page.picture(80)
  await writeFile(file, picture)
  process.stdout.write(`${file}: ${(picture.length / 1024).toFixed(0)} KiB\n`)
}

const untilProcessed = (api: Api, id: number, count: number) =>
  until(`${count} contacts that are through`, async () => ((await api.progress(id)).processed >= count ? true : undefined))

/** The call with the most nodes, which is the longest conversation. */
const longest = (runs: ReadonlyArray<Run>): Run => {
  const nodes = ({ gathered_context: gathered }: Run) => {
    const { nodes_visited: visited } = gathered ?? {}
    return Array.isArray(visited) ? visited.length : 0
  }
  const [run] = runs.filter(({ recording_url: url }) => url !== null).toSorted((one, other) => nodes(other) - nodes(one))
  if (run === undefined) throw new DemoFailed("No call was recorded.")
  return run
}

const press = (page: Page, name: string) =>
  until(`button ${name}`, () =>
    page.evaluate(`(() => {
      const button = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === ${JSON.stringify(name)})
      button?.click()
      return button === undefined ? undefined : true
    })()`)
  )

const pictureCall = async (page: Page, url: string, run: Run) => {
  await page.appear(width, "dark", 900)
  await page.open(`${url}/console#/runs/${run.workflow_id}/${run.id}`)
  await page.text("h2", /Conversation/)
  await page.click(".panel .head button")
  await until("waves", () => page.evaluate(`document.querySelector("canvas.waves[aria-label^=Callee]") ? true : undefined`))
  await page.evaluate(`[...document.querySelectorAll(".transcript button.time")].slice(0, 3).at(-1).click()`)
  await page.text(".transcript [aria-current]")
  await showUntilEnd(page, "dark", ".panel")
  await shoot(page, "call")
}

const pictureAgent = async (page: Page, url: string, agent: number) => {
  await page.appear(width, "light", 900)
  await page.open(`${url}/console#/agents/${agent}`)
  await page.text("h1", /Appointment reminder/)
  await page.click(".panel input[type=checkbox]")
  await press(page, "Begin")
  const say = async (text: string, node: RegExp) => {
    await page.enter("input[name=text]", text)
    await page.click(".chat ~ .form .main")
    await page.text(".node.entered", node)
  }
  await page.text(".node.entered", /Reach/)
  await say("Yes, speaking.", /Remind/)
  await say("Could we reschedule please?", /Find another time/)
  await shoot(page, "agent")
}

const pictureNewCampaign = async (page: Page, url: string) => {
  await page.appear(width, "light", 1200)
  await page.open(`${url}/console#/campaigns/new`)
  await page.enter("input[name=name]", "Follow-ups, May")
  await page.evaluate(`(() => {
    const chosen = new DataTransfer()
    chosen.items.add(new File([${JSON.stringify(lists.followUps)}], "follow-ups.csv"))
    const input = document.querySelector("input[type=file]")
    input.files = chosen.files
    input.dispatchEvent(new Event("change", { bubbles: true }))
  })()`)
  await page.text("p.good", /can be called/)
  await showUntilEnd(page, "light", "section[aria-label='The first contacts']")
  await shoot(page, "new-campaign")
}

const main = async () => {
  const unavailable = await chromiumUnavailable()
  if (unavailable !== undefined) throw new DemoFailed(unavailable)
  ensureBuilt(consolePages)
  await mkdir(folder, { recursive: true })
  const spoken = speech()
  const asterisk = await startAriEmulator({ ringMillis, talkMillis: patienceMillis, seed: 1 })
  stops.push(() => asterisk.stop())
  asterisk.log.talkerFor = (channelId, press) => {
    const moves = movesOf(asterisk.log.of(channelId)[0]?.number ?? "", spoken)
    return moves === undefined ? undefined : makeTalker(moves, { press, hangUp: () => {} })
  }
  const { signal } = new AbortController()
  const service = await startService({
    data,
    port: 0,
    slots: slots.all,
    rate,
    ringSeconds,
    provider: "ari",
    apiUrl: undefined,
    speech: { agent: new Map(), known: knownSpeechOf([]), callees: spoken },
    signal
  })
  stops.push(service.stop)
  const api = new Api(service.url, service.key)
  const { agent, checkUps } = await prepare(api, {
    provider: "ari",
    ari_endpoint: asterisk.url,
    app_name: asterisk.user,
    app_password: asterisk.password,
    dial_string: "PJSIP/{number}@trunk"
  })
  const page = await openPage({ teardown: (stop) => void stops.push(stop) })
  await signIn(page, service.url, service.key)
  await page.appear(width, "light", 900)
  await page.open(`${service.url}/console#/now`)
  await untilProcessed(api, checkUps.id, seen.now)
  await shoot(page, "now")
  await pictureCall(page, service.url, longest(await api.allRuns(checkUps.id)))
  await pictureAgent(page, service.url, agent.id)
  await pictureNewCampaign(page, service.url)
  await page.open(`${service.url}/console#/campaigns/${checkUps.id}`)
  await page.appear(width, "light", 1000)
  await untilProcessed(api, checkUps.id, seen.campaign)
  await page.text(".long tbody")
  await shoot(page, "campaign")
}

try {
  await main()
} finally {
  for (const stop of stops.reverse()) await stop()
}
