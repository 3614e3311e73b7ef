/** What a whole run of test files came to, and what it prints at its end. */
import type { FileReport } from "./FileReport.ts"

/** So many files that pass only alone are the machine's fault. With more of them, the run proves nothing. */
const mostAlone = 8
/** With more failures than this, the fault is not the machine's, and nothing runs again. */
const mostAgain = 2 * mostAlone
const slowest = 10

const hasFailed = ({ failed }: FileReport): boolean => failed > 0

/** The files that get a second chance, alone. */
export const againOf = (reports: ReadonlyArray<FileReport>): ReadonlyArray<string> => {
  const files = reports.filter(hasFailed).map(({ file }) => file)
  return files.length > mostAgain ? [] : files
}

const timeOf = ({ cpuSeconds, seconds }: FileReport): string =>
  `${seconds.toFixed(1).padStart(6)} s${cpuSeconds === undefined ? "" : `, CPU ${cpuSeconds.toFixed(1)} s`}`

export const linesOf = (report: FileReport): ReadonlyArray<string> => [
  ...report.details,
  `${hasFailed(report) ? "FAIL" : "ok  "}  ${report.file}  ${timeOf(report).trimStart()}, ${report.passed} passed`
]

const titled = (title: string, lines: ReadonlyArray<string>) => (lines.length > 0 ? ["", title, ...lines] : [])
const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

/**
 * The end of a run that took `seconds`: `reports` of the first time, `again` of the files that ran once more, alone. What a file came to then
 * replaces what it came to at first.
 */
export const summaryOf = (reports: ReadonlyArray<FileReport>, again: ReadonlyArray<FileReport>, seconds: number) => {
  const last = new Map([...reports, ...again].map((report) => [report.file, report]))
  const final = [...last.values()]
  const passedAlone = reports.filter((report) => hasFailed(report) && last.get(report.file)?.failed === 0)
  const isWorthless = passedAlone.length > mostAlone
  const failing = final.filter(hasFailed)
  const failed = sum(final.map((report) => report.failed)) + (isWorthless ? 1 : 0)
  const skipped = sum(final.map((report) => report.skipped))
  const lines = [
    ...titled(
      `The ${slowest} slowest files:`,
      final
        .toSorted((a, b) => b.seconds - a.seconds)
        .slice(0, slowest)
        .map((report) => `${timeOf(report)}  ${report.file}`)
    ),
    ...titled(
      "Passed only alone, after what failed the first time:",
      passedAlone.flatMap((report) => [
        `  ${report.file}  ${timeOf(report).trimStart()}`,
        ...report.failures.flat().map((line) => `  ${line}`)
      ])
    ),
    ...titled(
      "The failures in short:",
      failing.flatMap(({ failures, file }) => [`  ${file}`, ...failures.flat()])
    ),
    ...(isWorthless ? ["", `  x ${passedAlone.length} files passed only alone, more than ${mostAlone}: this run proves nothing`] : []),
    "",
    `${final.length} files in ${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `${sum(final.map((report) => report.passed))} passed, ${failed} failed`
  ]
  return { isPassed: failed === 0, lines }
}
