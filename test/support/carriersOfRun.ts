/** Of what is the same through each of six hosted carriers, a run takes two, so that several commits take all of them in turn. */
import { execFileSync } from "node:child_process"
import { globSync } from "node:fs"
import { basename } from "node:path"

/** Two of them, chosen by a commit's hash: each pair is as likely as any other, in either order. */
export const pairOf = (carriers: ReadonlyArray<string>, commit: string): ReadonlyArray<string> => {
  const pairs = carriers.flatMap((first) => carriers.filter((second) => second !== first).map((second) => [first, second]))
  return pairs[Number.parseInt(commit.slice(0, 8), 16) % pairs.length] ?? carriers
}

/** `root`: of the checkout. Without a commit, all of them. */
export const carriersOfRun = (root: string): ReadonlyArray<string> => {
  const carriers = globSync("test/journey/hosted/*.test.ts", { cwd: root }).map((file) => basename(file, ".test.ts"))
  try {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    return pairOf(carriers.toSorted(), commit)
  } catch {
    return carriers
  }
}
