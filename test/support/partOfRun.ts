/**
 * Of what is the same through each of six hosted carriers, and of stories that are told several times with one thing changed, a run takes a part, chosen
 * by its commit's hash, so that several commits take everything in turn.
 */
import { execFileSync } from "node:child_process"
import { globSync } from "node:fs"
import { basename } from "node:path"

/** Two of them: each pair is as likely as any other, in either order. */
export const pairOf = (carriers: ReadonlyArray<string>, turn: number): ReadonlyArray<string> => {
  const pairs = carriers.flatMap((first) => carriers.filter((second) => second !== first).map((second) => [first, second]))
  return pairs[turn % pairs.length] ?? carriers
}

/** `root`: of the checkout. */
export const carriersOf = (root: string, turn: number): ReadonlyArray<string> =>
  pairOf(
    globSync("test/journey/hosted/*.test.ts", { cwd: root })
      .map((file) => basename(file, ".test.ts"))
      .toSorted(),
    turn
  )

/** A number from the commit's hash. Undefined without a commit: such a run takes everything. */
export const turnOf = (root: string): number | undefined => {
  try {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    return Number.parseInt(commit.slice(0, 8), 16)
  } catch {
    return undefined
  }
}

/** `count` of a story's variants, or all of them if the file is run by name. */
export const variantsOfRun = <A>(all: ReadonlyArray<A>, count: number, turn = process.env["TEST_TURN"]): ReadonlyArray<A> => {
  const from = turn === undefined ? 0 : Number(turn) % all.length
  return [...all.slice(from), ...all.slice(0, from)].slice(0, turn === undefined ? all.length : count)
}
