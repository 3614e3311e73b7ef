import fc from "fast-check"
import t from "tap"
import { render, requiredVariables, systemVariables } from "#core/agent/Template.ts"
import { forAllOf } from "#test/support/forAll.ts"

/** Sunday 2026-03-08, 13:30:05 UTC: the day on which New York's clocks went forward. */
const now = Date.UTC(2026, 2, 8, 13, 30, 5)
const context = {
  name: "Ana",
  Name: "ANA",
  zero: 0,
  no: false,
  yes: true,
  blank: "",
  nothing: null,
  cart: { total: 12.5, items: ["a", { b: 1 }] },
  first_name: "",
  braces: "{{name}}",
  newline: "a\\nb",
  "a.b": "flat",
  current_time: "shadowed"
}

t.test("given a template, then it is rendered", async (t) => {
  const check = (template: string, expected: string) => t.equal(render(template, context, now), expected, template)
  t.test("variables", async () => {
    check("Hi {{name}}!", "Hi Ana!")
    check("Hi {{  name  }}, {{Name}}!", "Hi Ana, ANA!")
    check("{{missing}}|{{nothing}}|{{blank}}", "||")
    check("{{zero}} {{no}} {{yes}}", "0 false true")
    check("{{cart.total}} {{cart.items}} {{cart}}", '12.5 ["a",{"b":1}] {"total":12.5,"items":["a",{"b":1}]}')
    check("{{cart.items.0}}{{name.length}}{{cart.total.x}}", "")
    check("{{constructor}}{{cart.constructor}}{{__proto__}}", "")
    check("{{a.b}}", "")
    check("{{initial_context.name}} {{initial_context.cart.total}} {{initial_context}}", "Ana 12.5 ")
  })
  t.test("fallbacks", async () => {
    check("{{ missing | there }}", "there")
    check("{{missing|there, friend}}", "there, friend")
    check("{{ name | there }} {{ zero | none }} {{ no | none }}", "Ana 0 false")
    check("{{ blank | x }}{{ nothing | y }}", "xy")
    check("{{ missing | fallback:there }} {{ missing | fallback : a:b }}", "there a:b")
    check("{{ first_name | fallback }} {{ order.customer_name | fallback }}", "First Name Order Customer Name")
    check("{{ missing | 10:30 }}", "10:30")
    check("{{ missing | }}{{ missing | fallback: }}", "")
    check("{{ missing | fallbacks }}", "fallbacks")
  })
  t.test("what is not a variable stays", async () => {
    check("{{}} {{ }} {name} {{two words}} {{a|b|c}", "{{}} {{ }} {name} {{two words}} {{a|b|c}")
    check("{ {name} }", "{ {name} }")
  })
  t.test("a backslash and an n are a new line in the template, but not in a value", async () => {
    check("a\\n{{newline}}", "a\na\\nb")
  })
  t.test("a value is not rendered again", async () => {
    check("{{braces}}", "{{name}}")
    t.equal(render("{{x}}", { x: "$& $1" }, now), "$& $1")
  })
})

t.test("given the clock, then its time is in the zone that the template names", async (t) => {
  const check = (template: string, expected: string) => t.equal(render(template, context, now), expected, template)
  check("{{current_time}}", "2026-03-08 13:30:05 UTC")
  check("{{current_weekday}}", "Sunday")
  check("{{current_time_America/New_York}}", "2026-03-08 09:30:05 EDT")
  check("{{current_weekday_Pacific/Auckland}}", "Monday")
  check("{{current_time}} {{current_weekday_America/New_York}}", "2026-03-08 09:30:05 EDT Sunday")
  check("{{current_weekday}} {{current_time_Pacific/Auckland | x}}", "Monday 2026-03-09 02:30:05 GMT+13")
  check("{{current_time_Mars/Olympus}}", "")
  check("{{current_time_Mars/Olympus | late}} {{current_weekday}}", "late Sunday")
  t.equal(render("{{current_time}}", {}, Date.UTC(2026, 0, 1)), "2026-01-01 00:00:00 UTC")
})

t.test("given a template, then the variables that a contact must bring are found", async (t) => {
  const check = (template: string, expected: ReadonlyArray<string>) => t.strictSame(requiredVariables(template), expected, template)
  check("no variables", [])
  check("{{b}} {{ a }} {{b}}", ["b", "a"])
  check("{{name | there}} {{name2 | fallback}} {{cart.total}}", [])
  check("{{name | there}} {{name}}", ["name"])
  check(systemVariables.map((name) => `{{${name}}}`).join(), [])
  check("{{current_time}} {{current_weekday}} {{current_time_Europe/London}} {{current_weekday_Mars/Olympus}}", [])
  check("{{current_times}}", ["current_times"])
})

t.test("given a context with all required variables, then nothing in the text is lost or left over", async () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/)
  const piece = fc.oneof(fc.record({ text: fc.stringMatching(/^[a-z ,.!]*$/) }), fc.record({ name: word }))
  forAllOf({ seed: 5 }, fc.array(piece), fc.string({ minLength: 1 }), (pieces, value) => {
    const template = pieces.map((piece) => ("name" in piece ? `{{ ${piece.name} }}` : piece.text)).join("")
    const needed = requiredVariables(template).map((name) => [name, `${name}=${value}`])
    const expected = pieces
      .map((piece) => ("text" in piece ? piece.text : systemVariables.includes(piece.name) ? "" : `${piece.name}=${value}`))
      .join("")
    return render(template, Object.fromEntries(needed), now) === expected
  })
})

t.test("given a long value that a template asks for many times, then nothing is inserted beyond the limit", async (t) => {
  const text = render("{{long}}".repeat(1000), { long: "x".repeat(50_000) }, now)
  t.ok(text.length < 130_000)
  t.match(text, /^x{50000}/)
})

t.test("given a template with far too many clocks, then the last of them are left empty", async (t) => {
  const zones = ["UTC", "Europe/Paris", "Asia/Tokyo", "America/Lima"]
  const spelled = zones.flatMap((zone) => [
    zone,
    zone.toLowerCase(),
    zone.toUpperCase(),
    zone.replace(/^./, (first) => first.toLowerCase())
  ])
  const paths = [...new Set(spelled)].map((zone) => `current_weekday_${zone}`)
  const told = (many: ReadonlyArray<string>) =>
    render(many.map((path) => `{{${path}}}`).join(","), {}, now)
      .split(",")
      .filter((word) => word !== "").length
  t.equal(told(paths.slice(0, 5)), 5)
  t.equal(told([...paths, ...paths.map((path) => path.replace("weekday", "time"))]), 16)
})
