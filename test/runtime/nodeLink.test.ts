/** One end of the link between two engines: what leaves together, what a reader gets, and how it ends. */
import { setImmediate as turn } from "node:timers/promises"
import t from "tap"
import { NodeLink } from "#runtime/nodes/NodeLink.ts"
import { untilTrue } from "#test/support/until.ts"

interface Word {
  readonly _tag: string
  readonly text?: string
}

/** `hasRoom`: whether the other end reads. */
const open = (hasRoom = true) => {
  const frames: Array<string> = []
  const heard: Array<string> = []
  const ends: Array<string> = []
  const socket = {
    close: () => void ends.push("socket"),
    sendText: (text: string) => {
      frames.push(text)
      return hasRoom
    }
  }
  const link: NodeLink<Word, Word> = new NodeLink(socket, {
    onClose: () => void ends.push("told"),
    onMessage: ({ _tag }) => {
      heard.push(_tag)
      if (_tag === "Leave") link.close()
    }
  })
  t.teardown(() => link.close())
  return { ends, frames, heard, link }
}

t.test("what is said in one turn leaves in one frame, in order", async (t) => {
  const { frames, link } = open()
  for (const _tag of ["One", "Two"]) link.send({ _tag })
  t.strictSame(frames, [])
  await turn()
  link.send({ _tag: "Three" })
  await turn()
  t.strictSame(frames, ['[{"_tag":"One"},{"_tag":"Two"}]', '[{"_tag":"Three"}]'])
})

t.test("what nobody waits for leaves with what somebody does, in order, and by itself before long", async (t) => {
  const { frames, link } = open()
  // Unless the machine stands still between the two turns.
  await untilTrue("a frame of both", async () => {
    link.send({ _tag: "One" }, true)
    await turn()
    link.send({ _tag: "Two" })
    await turn()
    return frames.at(-1) === '[{"_tag":"One"},{"_tag":"Two"}]'
  })
  const before = frames.length
  link.send({ _tag: "Three" }, true)
  await untilTrue("its frame", () => frames.length > before)
  t.equal(frames.at(-1), '[{"_tag":"Three"}]')
})

t.test("a frame does not grow without limit", async (t) => {
  const { frames, link } = open()
  const text = "x".repeat(600_000)
  for (const _tag of ["One", "Two", "Three"]) link.send({ _tag, text })
  t.equal(frames.length, 1, "more than a mebibyte leaves at once")
  await turn()
  const said = frames.flatMap((frame): ReadonlyArray<Word> => JSON.parse(frame))
  t.strictSame(
    said.map(({ _tag }) => _tag),
    ["One", "Two", "Three"]
  )
})

t.test("what was said before a link is closed still leaves, and nothing after it", async (t) => {
  const { ends, frames, link } = open()
  link.send({ _tag: "Last" })
  link.close()
  link.close()
  link.send({ _tag: "Late" })
  await turn()
  t.strictSame(frames, ['[{"_tag":"Last"}]'])
  t.strictSame(ends, ["socket", "told"], "its end is told once")
})

t.test("a link whose other end does not read is closed", async (t) => {
  const { ends, frames, link } = open(false)
  link.send({ _tag: "One" })
  await turn()
  link.send({ _tag: "Two" })
  await turn()
  t.strictSame([ends, frames.length], [["socket", "told"], 1])
})

t.test("the messages of a frame are heard in order, until one closes the link", async (t) => {
  const { heard, link } = open()
  link.message('[{"_tag":"One"},{"_tag":"Two"},{"_tag":"Leave"},{"_tag":"Late"}]')
  link.message('[{"_tag":"Later"}]')
  t.strictSame(heard, ["One", "Two", "Leave"])
})

t.test("a frame of anything else closes the link, and nothing of it is heard", async (t) => {
  for (const frame of ["", "null", "{}", "[]", "[null]", "[[]]", '{"_tag":"One"}', '[{"_tag":"One"},5]']) {
    const { ends, heard, link } = open()
    link.message(frame)
    await turn()
    t.strictSame([heard, ends], [[], ["socket", "told"]], frame)
  }
})
