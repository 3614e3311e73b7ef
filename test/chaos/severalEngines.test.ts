/** The short form of `npm run chaos` with several engines. */
import t from "tap"
import { story } from "./story.ts"

t.setTimeout(1_800_000)

t.test("given three engines, when the one that dials is killed, frozen and replaced repeatedly", (t) =>
  story(t, { contacts: 120, minutes: 2, nodes: 3, seed: 3 }, true)
)

t.test("given three engines, when any of them is killed, frozen and replaced again and again", (t) =>
  story(t, { contacts: 120, minutes: 2, nodes: 3, seed: 5 }, true)
)
