/**
 * What an organization sets up in the console, in a real browser that can reach only this machine: telephony, services, keys, webhooks and numbers that are
 * not called. The API tells what has come of it. A viewer sees all of it and can change none; a member makes a campaign with it.
 */
import { isDeepStrictEqual } from "node:util"
import type { Static } from "typebox"
import t from "tap"
import type { ProviderList } from "#gateway/wire/Telephony.ts"
import { consolePages, ensureBuilt } from "#runtime/build.js"
import { answeringServer } from "#test/support/answeringServer.ts"
import { isAccessible } from "#test/support/barriers.ts"
import { chromiumUnavailable, openPage, type Page } from "#test/support/chromium.ts"
import { Api, World } from "#test/support/engine.ts"
import { buttonsOf, choose, enter, faultAt, press, tick } from "#test/support/forms.ts"
import { until, untilTrue } from "#test/support/until.ts"

t.setTimeout(1_800_000)
const skip = (await chromiumUnavailable()) ?? false
ensureBuilt(consolePages)

const signInWithKey = async (page: Page, url: string, key: string) => {
  await page.open(`${url}/console`)
  await press(page, "Sign in with an API key")
  await enter(page, "API key", key)
  await press(page, "Sign in with an API key")
  await page.text("h1", /Now/)
}
/** A script: the next answer to something that changes anything does not reach the page. */
const losingOneAnswer = `(() => {
  const real = window.fetch
  window.fetch = async (...asked) => {
    const answer = await real(...asked)
    if (asked[1].method === "GET") return answer
    window.fetch = real
    throw new TypeError("lost")
  }
})()`

/** An expression: what the fields of the chosen provider are called, in the order in which they are shown. */
const declaredNames = `[...document.querySelectorAll("[name^='config.']")].map(({ name }) => name)`

/** A script: a list of contacts is dropped where one can be. */
const dropping = (csv: string) => `(() => {
  const dragged = new DataTransfer()
  dragged.items.add(new File([${JSON.stringify(csv)}], "list.csv"))
  document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: dragged, bubbles: true, cancelable: true }))
})()`

/** Expressions: what the plot looks like, and whether each of its curves is drawn. */
const curves = `document.querySelector(".plot canvas").toDataURL()`
const drawnCurves = `[...document.querySelectorAll(".legend button")].map((one) => one.ariaPressed)`

/** What buttons that a member does not see would ask of the organization. */
const notShown = [
  "POST telephony-configs",
  "DELETE telephony-configs/1",
  "POST invitations",
  "PATCH members/1",
  "PUT quotas",
  "DELETE opt-outs/1",
  "GET audit-log"
]

/** `sign`: what no page before has shown. */
const at = async (page: Page, url: string, place: string, sign: RegExp) => {
  await page.open(`${url}/console#/${place}`)
  await page.text("main", sign)
  await page.text("main", /^(?![\s\S]*\bLoading\b)/)
}

t.test("given the settings of an organization in a browser", { skip }, async (t) => {
  const others = await answeringServer(t, (response, { path }) => response.writeHead(path === "/hook" ? 204 : 401).end())
  const world = await World.open(t, { emulator: { media: false }, environment: { KEY_TRIALS: "on", WEBHOOK_PRIVATE_TARGETS: "on" } })
  const page = await openPage(t)
  const { api, emulator, engine } = world
  await signInWithKey(page, engine.url, world.apiKey)
  const listed = await api.ask("GET", "/organizations/telephony-providers/metadata")
  // Cast: the engine answers with what it declares.
  const { providers } = listed.body as Static<typeof ProviderList>

  await t.test("when a telephony configuration is added", async (t) => {
    await at(page, engine.url, "telephony", /far end/)
    await isAccessible(t, page, "the list of telephony configurations")
    await press(page, "Add a configuration")
    for (const { display_name: name, fields, provider } of providers) {
      await choose(page, "Provider", name)
      const own = fields.filter(({ name, type }) => type !== "readonly" && name !== "from_numbers")
      const names = own.map(({ name }) => `config.${provider}.${name}`)
      await untilTrue(`fields of ${name}`, async () => isDeepStrictEqual(await page.evaluate(declaredNames), names))
      await isAccessible(t, page, `the form of ${name}`)
    }
    await choose(page, "Provider", "Asterisk ARI")
    await enter(page, "Name", "Second Asterisk")
    await enter(page, "ARI Endpoint", emulator.url)
    await enter(page, "ARI Username", emulator.user)
    await enter(page, "ARI Password", emulator.password)
    await enter(page, "Extensions (optional)", "1000\n1")
    await press(page, "Add")
    t.match(await faultAt(page, "Extensions (optional)"), /^Item 2: /, "then what is wrong is said at its field")
    await isAccessible(t, page, "the form with a fault")
    await enter(page, "Extensions (optional)", "1000-1009")
    await press(page, "Add")
    t.match(await page.text("h1", /Second/), "Second Asterisk", "and the right value is taken")
    t.match(await page.text("#outbound", /ready/), /● ready/)
  })

  await t.test("when it is tested, and gets a number", async (t) => {
    await press(page, "Test")
    t.match(await page.text("table[aria-label=Checks]"), /connection\s+● passed/, "then each check is shown")
    t.match(await page.text("#trunk"), /unused/, "and that no call has gone through it")
    await press(page, "Add a number")
    await enter(page, "Number", "+15550100")
    await press(page, "Add")
    t.match(await page.text("table[aria-label=Numbers]", /\+15550100/), /● active/)
    await press(page, "Deactivate +15550100")
    await page.text("table[aria-label=Numbers]", /inactive/)
    await isAccessible(t, page, "a telephony configuration")
    await press(page, "Make default")
    await page.text("dl", /Yes: calls/)
    await enter(page, "Name", "Main Asterisk")
    await press(page, "Save")
    await page.text("h1", /Main Asterisk/)
    await press(page, "Test")
    await page.text("table[aria-label=Checks]", /credentials\s+● passed/)
  })

  await t.test("when it is tested with a call, and the answer is lost", async (t) => {
    await press(page, "Test with a call")
    await enter(page, "Number to call", "+15550001")
    await page.evaluate(losingOneAnswer)
    await press(page, "Test and call")
    t.match(await page.text("form [role=alert]"), /cannot be reached/, "then the page says so")
    await press(page, "Test and call")
    t.match(await page.text("main", /has been placed|another call/), /The call has been placed/, "and pressed again, it shows the one call")
    t.equal(emulator.log.count("originate"), 1, "which is the only one")
  })
  await t.test("when services are chosen, one of which does not take its key", async (t) => {
    await at(page, engine.url, "services", /Speech-to-text/)
    await choose(page, "Speech-to-text: provider", "Speaches")
    await enter(page, "Base URL (optional)", `${others.url}/v1`)
    await enter(page, "API key (optional)", "a-wrong-key-1234")
    await choose(page, "Language model: provider", "Built in")
    await choose(page, "Voice: provider", "Flite")
    await press(page, "Save")
    t.match(
      await page.text("main [role=alert]"),
      /^speaches does not take the key/,
      "then they are saved, and the page says so beside the service"
    )
    await isAccessible(t, page, "services")
    await page.open("about:blank")
    await at(page, engine.url, "services", /Speech-to-text/)
    await press(page, "Save")
    await page.text("main [role=alert]", /key/)
    const keys = others.asked.map(({ headers }) => headers.authorization)
    t.strictSame(keys, ["Bearer a-wrong-key-1234", "Bearer a-wrong-key-1234"], "and a key that is shown masked stays the same")
    await press(page, "Add a price")
    await enter(page, "Provider", "acme")
    await enter(page, "Model or voice", "*")
    await enter(page, "US dollars per million prompt tokens", "0.5")
    await enter(page, "US dollars per million completion tokens", "1.5")
    await press(page, "Add")
    t.match(await page.text("main table", /acme/), /\$0.5 per million prompt tokens, \$1.5 per million completion tokens/)
  })

  await t.test("when a key is created that may only read", async (t) => {
    await at(page, engine.url, "organization/keys", /bootstrap/)
    await press(page, "Create a key")
    await enter(page, "Name", "reporting")
    await tick(page, "read: everything that changes nothing")
    await press(page, "Create")
    const key = await page.text("main .copied code")
    const reader = new Api(engine.url, key)
    t.equal((await reader.ask("GET", "/campaign/")).status, 200, "then it reads")
    t.equal((await reader.ask("POST", "/organizations/opt-outs", { phone_numbers: ["+15550199"] })).status, 403, "and does nothing else")
    await isAccessible(t, page, "the list of keys")
    await press(page, "Hide it")
    await press(page, "Archive reporting")
    await isAccessible(t, page, "a question")
    await press(page, "Archive it")
    await page.text("main", /bootstrap(?![\s\S]*reporting)/)
    t.equal((await reader.ask("GET", "/campaign/")).status, 401, "and once it is archived, it is refused")
  })

  await t.test("when a webhook is added", async (t) => {
    await at(page, engine.url, "organization/webhooks", /None/)
    await press(page, "Add an endpoint")
    await enter(page, "URL", `${others.url}/hook`)
    await tick(page, "run.completed: a call is over")
    await press(page, "Add")
    t.match(await page.text("main .copied code"), /^whsec_/, "then its secret is shown")
    await press(page, `${others.url}/hook`)
    await press(page, "Send a test event")
    await untilTrue("test event", () => others.asked.some(({ line }) => line === "POST /hook"))
    await until("delivery", async () => {
      await press(page, "Refresh")
      return /● delivered/.test(await page.text("table[aria-label=Deliveries]")) || undefined
    })
    await isAccessible(t, page, "a webhook")
  })

  await t.test("when a number is not to be called any more", async (t) => {
    await at(page, engine.url, "organization/opt-outs", /None/)
    await press(page, "Add numbers")
    await enter(page, "Numbers", "+15550123\n5550124")
    await press(page, "Do not call these")
    t.match(await faultAt(page, "Numbers"), /^Item 2: /, "then the line that is no number is named")
    await enter(page, "Numbers", "+15550123")
    await press(page, "Do not call these")
    await page.text("main table", /\+15550123/)
    const { body, status } = await api.call(world.agentUuid, "+15550123")
    t.equal(status, 409, "then a call to it is refused")
    t.match(JSON.stringify(body), /opted out/)
    await isAccessible(t, page, "the numbers that are not called")
  })

  const tabs = { members: /Invitations/, audit: /create telephony config/, quotas: /Lower the limits/, settings: /Time zone/ }
  for (const [tab, sign] of Object.entries(tabs))
    await t.test(`when an owner looks at ${tab}`, async (t) => {
      await at(page, engine.url, `organization/${tab}`, sign)
      await isAccessible(t, page, tab)
    })

  await t.test("when the quota of calls is lowered, first to more than is allowed", async (t) => {
    await at(page, engine.url, "organization/quotas", /Lower the limits/)
    await enter(page, "Calls at once", "1000")
    await press(page, "Save")
    t.match(await faultAt(page, "Calls at once"), /10/, "then its field names what is allowed")
    await enter(page, "Calls at once", "3")
    await press(page, "Save")
    await page.text("main table", /Calls at once\s+0 of 3\s+3\s+10/)
    t.match((await api.ask("GET", "/organizations/settings")).body, { concurrency_limit: 3 }, "and the limit counts")
  })

  await t.test("when somebody is invited as a viewer, and joins by the link", async (t) => {
    await at(page, engine.url, "organization/members", /Invitations/)
    await press(page, "Invite somebody")
    await enter(page, "E-mail address", "ada@example.com")
    await choose(page, "Role", "viewer")
    await press(page, "Invite")
    const link = await page.text("main .copied code")
    await isAccessible(t, page, "the form of an invitation")
    await press(page, "Sign out")
    await page.text("h1", /Trunkline/)
    page.complaints.splice(0)
    await page.open(link)
    await page.text("main", /You are invited/)
    await isAccessible(t, page, "the page to join")
    await enter(page, "E-mail address", "ada@example.com")
    await enter(page, "Password", "a long password")
    await press(page, "Join")
    await page.text("h1", /Now/)
    t.match(await page.text(".caller"), "ada@example.com", "then they are signed in")
    page.complaints.splice(0)
  })

  const shownTo = {
    now: [/A campaign\s+This needs the role member/],
    "campaigns/new": [/This needs the role member/],
    telephony: [/far end/],
    "telephony/new": [/This needs the role admin/],
    "telephony/1": [/ARI Endpoint/],
    services: [/Flite/, "Default prices, used where the organization has none"],
    "organization/members": [/ada@/],
    "organization/keys": [/bootstrap/],
    "organization/sessions": [/this one/, "End all", "End the log-in from 127.0.0.1", "Change"],
    "organization/webhooks": [/hook/],
    "organization/webhooks/1": [/delivered/, "Refresh"],
    "organization/quotas": [/Calls at once/],
    "organization/opt-outs": [/\+15550123/],
    "organization/settings": [/Calls at once[\s\S]*Time zone/],
    // Who may not see the audit log is shown the members.
    "organization/audit": [/ada@/]
  } as const
  await t.test("when a viewer looks at their log-ins and a configuration", async (t) => {
    await at(page, engine.url, "organization/sessions", /this one/)
    await isAccessible(t, page, "the list of log-ins")
    await at(page, engine.url, "telephony/1", /ARI Endpoint/)
    await isAccessible(t, page, "a configuration to a viewer")
  })
  for (const [place, [sign, ...buttons]] of Object.entries(shownTo))
    await t.test(`when a viewer looks at ${place}`, async (t) => {
      await at(page, engine.url, place, sign)
      t.strictSame(await buttonsOf(page), buttons, "then nothing is there that would be refused")
    })
  t.strictSame(page.complaints, [], "and no page asks for what a viewer may not see")

  await t.test("when they end all of their log-ins", async (t) => {
    await at(page, engine.url, "organization/sessions", /this one/)
    await press(page, "End all")
    await press(page, "End all of them")
    t.equal(await page.text(".sign-in h1"), "Trunkline", "then they are signed out")
  })

  await t.test("when an owner makes them a member", async (t) => {
    await signInWithKey(page, engine.url, world.apiKey)
    await at(page, engine.url, "organization/members", /Joined/)
    await choose(page, "Role of ada@example.com", "member")
    await untilTrue("member", async () => JSON.stringify((await api.ask("GET", "/organizations/members")).body).includes('"role":"member"'))
    await press(page, "Sign out")
    await enter(page, "E-mail address", "ada@example.com")
    await enter(page, "Password", "a long password")
    await press(page, "Sign in with an account")
    t.match(await page.text(".caller"), "ada@example.com", "then they sign in with their password")
    page.complaints.splice(0)
  })

  const before = emulator.log.count("originate")
  await t.test("when a member makes a campaign of a list that is dropped in, and then of numbers by hand", async (t) => {
    await api.ask("POST", "/organizations/telephony-configs", { name: "Simulated", config: { provider: "simulated" } })
    await at(page, engine.url, "now", /First steps/)
    await press(page, "give it a list of contacts")
    await enter(page, "Name", "Check-ups")
    await page.evaluate(dropping("phone_number\n+15550900101\n0123\n"))
    await page.text("section[aria-label='Rows with a fault']", /3/)
    await press(page, "Write numbers by hand")
    await enter(page, "Phone numbers, one on each line, with + and country code", "+15550900101\n+15550900202")
    await press(page, "Use these")
    await page.text("p.good", /2 contacts of 2 rows can be called/)
    await choose(page, "Dials through", "Simulated (simulated)")
    await page.text("form output", /^At any time/)
    await choose(page, "Dials through", "Main Asterisk (ari)")
    t.match(await page.text("form output", /^Mon/), /^Mon to Fri 09:00 to 17:00/, "then phones that ring have calling hours")
    await press(page, "Remove")
    await enter(page, "Retries of a contact, at most", "0")
    await press(page, "Create campaign")
    await page.text("h1", /Check-ups/)
    t.equal(emulator.log.count("originate"), before, "then nobody is called before it is started")
  })

  await t.test("when they start it, and watch it to its report", async (t) => {
    await press(page, "Start")
    await press(page, "Start dialing")
    await page.text(".head", /completed/)
    t.equal(emulator.log.count("originate"), before + 2, "then each is called once")
    await page.text(".long tbody", /reached[\s\S]*not reached/)
    await page.text(".legend", /answered\s*\d[\s\S]*busy or not answered\s*\d/)
    const all = await page.evaluate(curves)
    await press(page, "answered 1")
    await untilTrue("a curve less", async () => (await page.evaluate(curves)) !== all)
    await isAccessible(t, page, "a plot without one of its curves")
    t.strictSame(await page.evaluate(drawnCurves), ["false", "true", "true", "true"], "then a curve can be left out")
    const without = await page.evaluate(curves)
    await press(page, "answered 1")
    await untilTrue("the curve again", async () => (await page.evaluate(curves)) !== without)
    t.strictSame(await page.evaluate(drawnCurves), ["true", "true", "true", "true"], "and drawn again")
    const report = await page.evaluate(`fetch(document.querySelector("main .choices a").href).then((answer) => answer.text())`)
    t.equal(String(report).trim().split("\n").length, 3, "and the report has a line for each call")
    await press(page, "+15550900101")
    await page.text("dialog table", /Open/)
    await press(page, "Open")
    await page.text("h2", /Conversation/)
    t.strictSame(await buttonsOf(page), ["Campaign", "Agent", "Hear it"], "but what was said is not theirs to delete")
  })

  const shownToMember = {
    ...shownTo,
    now: [/Campaigns under way/],
    campaigns: [/Check-ups/, "New campaign"],
    "campaigns/new": [/Contacts/, "Write numbers by hand", "Remove", "Add hours", "Create campaign"],
    "organization/opt-outs": [/\+15550123/, "Add numbers"]
  } as const
  for (const [place, [sign, ...buttons]] of Object.entries(shownToMember))
    await t.test(`when a member looks at ${place}`, async (t) => {
      await at(page, engine.url, place, sign)
      t.strictSame(await buttonsOf(page), buttons, "then nothing is there that would be refused")
    })
  t.strictSame(page.complaints, [], "and no page asks for what a member may not see")

  for (const request of notShown)
    await t.test(`when a member asks for ${request} nevertheless`, async (t) => {
      const [method, path] = request.split(" ")
      const sent = method === "GET" ? {} : { headers: { "content-type": "application/json" }, body: "{}" }
      const asked = `fetch("/api/v1/organizations/${path}", ${JSON.stringify({ method, ...sent })}).then(({ status }) => status)`
      t.equal(await page.evaluate(asked), 403, "then it is refused")
    })

  await t.test("when an owner removes them", async (t) => {
    await press(page, "Sign out")
    await signInWithKey(page, engine.url, world.apiKey)
    await at(page, engine.url, "organization/members", /Joined/)
    await press(page, "Remove ada@example.com")
    await press(page, "Remove them")
    t.match(await page.text("main", /Nobody has an account here/), /redeemed/)
  })
  t.strictSame(page.elsewhere, [], "the browser asked no other machine for anything")
})
