/**
 * Calls whose model, recognizer, voice, tools, carrier and callee fail in all possible ways: nobody is left in silence, and each call comes to
 * a conclusion. A call that breaks a rule is reported with its seed, and with what its callee heard. `CALLS=2000` plays more calls.
 */
import t from "tap"
import { temporaryFolder } from "#test/support/dataFolder.ts"
import { type FaultyTalk, faultyTalk, maxCallSeconds } from "#test/support/faultyTalk.ts"

const calls = Number(process.env["CALLS"] ?? 500)
const longestSilenceMillis = 3000

const folder = temporaryFolder(t)

const dispositionsOf = ({ facts }: FaultyTalk): ReadonlyArray<unknown> =>
  facts.flatMap((fact) => (fact._tag === "Remembered" ? [fact.gathered["call_disposition"]] : [])).filter((one) => one !== undefined)

/** The rules that the call breaks. */
const broken = (talk: FaultyTalk): ReadonlyArray<string> => {
  const { endedAt, ends, silences } = talk
  const isSilent = silences.some(({ millis }) => millis > longestSilenceMillis)
  const [first, ...others] = dispositionsOf(talk)
  return [
    ...(isSilent ? ["silence"] : []),
    ...(first === undefined ? ["no disposition"] : []),
    ...(others.some((one) => one !== first) ? ["another disposition"] : []),
    ...(ends > 1 ? ["ended twice"] : []),
    ...(endedAt === undefined && talk.millis > (maxCallSeconds + 1) * 1000 ? ["endless"] : [])
  ]
}

t.test(`given ${calls} calls with faults, then there is no silence above 3 s, and each has one end and one disposition`, async (t) => {
  const dispositions = new Map<unknown, number>()
  let silences = 0
  for (let seed = 1; seed <= calls; seed++) {
    const talk = await faultyTalk(seed, folder)
    const laws = broken(talk)
    if (laws.length > 0) t.fail(`${laws.join(", ")} in call ${seed}`, { silences: talk.silences, story: talk.story })
    const disposition = dispositionsOf(talk).at(-1)
    dispositions.set(disposition, (dispositions.get(disposition) ?? 0) + 1)
    silences += talk.silences.filter(({ millis }) => millis > 2000).length
  }
  t.comment(Object.fromEntries(dispositions))
  for (const end of ["user_qualified", "user_hangup", "pipeline_error", "call_duration_exceeded", "user_idle_max_duration_exceeded"])
    t.ok((dispositions.get(end) ?? 0) > calls / 100, `some end as ${end}`)
  t.ok(silences > calls / 10, "in many of them somebody had to wait")
})
