/** What remains of markup in speech, however the text arrives. */
import fc from "fast-check"
import t from "tap"
import { makePlainSpeech, plainSpeech } from "#core/voice/PlainSpeech.ts"
import { forAllOf } from "#test/support/forAll.ts"

const inParts = (text: string, cuts: ReadonlyArray<number>): string => {
  const plain = makePlainSpeech()
  let [said, from] = ["", 0]
  for (const length of cuts) {
    said += plain.push(text.slice(from, from + length))
    from += length
  }
  return (said + plain.push(text.slice(from)) + plain.end()).trim()
}

const cases: ReadonlyArray<readonly [written: string, spoken: string]> = [
  ["Hello, this is Ann (from Acme). It's 5 < 6, isn't it?", "Hello, this is Ann (from Acme). It's 5 < 6, isn't it?"],
  ["It is *very* _good_, __really__ ***so***, ~~not~~ `bad`.", "It is very good, really so, not bad."],
  ["# Prices\n## Today ##\nTwo of them", "Prices. Today. Two of them"],
  ["Prices\n======\nTwo of them", "Prices. Two of them"],
  ["#Prices", "Prices"],
  [
    "We are open:\n* Monday\n* **Tuesday**, all day\n  - mornings\n+ Sunday!\nThat is all",
    "We are open: Monday. Tuesday, all day. mornings. Sunday! That is all"
  ],
  ["1. Monday\n2) Tuesday", "1, Monday. 2, Tuesday"],
  ["- [x] done\n- [ ] open\n• more", "done. open. more"],
  ["> as they\n> said\n\nNext", "as they said. Next"],
  ["One\nline\r\nis another", "One line is another"],
  ["First\n\n---\n\nSecond", "First. Second"],
  ["| Day | Price |\n|:---|---:|\n| Mon | $5 |\n| Tue | $6 |\nThat is all.", "Day, Price. Mon, $5. Tue, $6. That is all."],
  ["See [our **site**](https://acme.com/a?b=(1)) now.", "See our site now."],
  ["[Terms][1] and ![the map](map.png), [really]\n\n[1]: https://acme.com", "Terms and the map, really"],
  ["It is so [1], they say【4†source】 [^2].", "It is so, they say."],
  ["Go to https://www.acme.com/help. Or <https://acme.com/>, <ann@acme.com>", "Go to acme.com/help. Or acme.com, ann@acme.com"],
  ["https://acme.com/orders?id=4711&sort=up", "acme.com/orders"],
  ['<b>Bold</b><br>new &amp; old<!-- not this -->, it&#39;s <span class="x">so</span>', "Bold. new & old, it's so"],
  ["a <b and c> d", "a <b and c> d"],
  ["Great 😀! Bye 👍🏽👨‍👩‍👧 🇨🇭❤️", "Great! Bye"],
  ["5️⃣ © 2026, 20 °C, № 5", "5 © 2026, 20 °C, № 5"],
  ["Monday → Friday -> Sunday", "Monday, Friday, Sunday"],
  ["```json\nsix dollars\n```\nThat is it", "six dollars. That is it"],
  ["So: ```js\nsix\n``` dollars", "So: six dollars"],
  [
    "Press * or #, or *67, for order #45 at 2*3 in snake_case \\*as is\\*",
    "Press * or #, or *67, for order #45 at 2*3 in snake_case *as is*"
  ],
  ["*unclosed, and [unclosed, and <unclosed", "unclosed, and unclosed, and <unclosed"],
  ["日本語。\n- 一\n- 二", "日本語。 一. 二"],
  ["Prix : 5 € **net** !", "Prix : 5 € net !"],
  ["one • two", "one, two"],
  ["😀 **", ""],
  ["", ""]
]

t.test("given what an agent writes, then it is said without markup, and headings and items are sentences", async (t) => {
  for (const [written, spoken] of cases) t.equal(plainSpeech(written), spoken, written)
})

t.test("given text that arrives cut anywhere, even within a character, then the same is said", async (t) => {
  for (const [written, spoken] of cases) {
    for (const length of [1, 2, 3, 7])
      t.equal(
        inParts(
          written,
          Array.from({ length: 200 }, () => length)
        ),
        spoken,
        `${written}, by ${length}`
      )
  }
  const piece = fc.oneof(
    fc.constantFrom(...cases.map(([written]) => written)),
    fc.string({ maxLength: 10 }),
    fc.constantFrom(..."*_#[]()<>|-`~&\\\n 1.!h")
  )
  const texts = fc.array(piece, { maxLength: 8, size: "max" }).map((pieces) => pieces.join(""))
  forAllOf(
    { numRuns: 2000, seed: 5 },
    texts,
    fc.array(fc.integer({ max: 9, min: 1 }), { maxLength: 60, size: "max" }),
    (text, cuts) => inParts(text, cuts) === plainSpeech(text)
  )
})

t.test("given an answer of plain sentences, then nothing but the word that is being written is held back", async (t) => {
  const plain = makePlainSpeech()
  t.strictSame([plain.push("Good mor"), plain.push("ning, how"), plain.push(" are you? I")], ["Good mor", "ning, how", " are you? I"])
})

t.test("given a hostile text, then it is read at once", async (t) => {
  for (const text of [
    "\n".repeat(40_000),
    "> ".repeat(20_000),
    "[".repeat(4000),
    "<a ".repeat(1300),
    "| ".repeat(2000),
    "*".repeat(4000),
    `|${" ".repeat(4000)}x`,
    "![[(".repeat(1000),
    "https://".repeat(500)
  ]) {
    const before = process.cpuUsage().user
    plainSpeech(text)
    t.ok(process.cpuUsage().user - before < 1_500_000, text.slice(0, 8))
  }
})
