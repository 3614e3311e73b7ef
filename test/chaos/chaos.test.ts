/** The short form of `npm run chaos`: fewer contacts, and each kind of fault once or twice. */
import t from "tap"
import { story } from "./story.ts"

t.setTimeout(1_800_000)

t.test("given campaigns that share phones, when they go through a few faults of each kind", (t) =>
  story(t, { contacts: 100, minutes: 2, seed: 8 }, true)
)
