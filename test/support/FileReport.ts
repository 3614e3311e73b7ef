/** What a test file came to, read from the TAP that it prints. */

export interface FileReport {
  readonly file: string
  readonly seconds: number
  /** CPU time of its process and of those that this started. Undefined in a batch, where it cannot be told apart. */
  readonly cpuSeconds: number | undefined
  /** Assertions. A test without any counts as one, as does one that fails although none of them did. */
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Each failure in full, and each skipped test with its reason. */
  readonly details: ReadonlyArray<string>
  /** Each failure in a few lines: its name, and what differs. */
  readonly failures: ReadonlyArray<ReadonlyArray<string>>
}

/** The lines of a failure's short form, and the characters of each. */
const [shortLines, shortLength] = [16, 240]
/** The parts of a failure's details that its short form leaves out: where it happened. */
const isPlace = /^(at|stack|source|jobId|tapCaller|buffered):|^(---|\.\.\.)$/
const indentOf = (line: string): number => line.length - line.trimStart().length

export class FileReader {
  readonly file: string
  readonly #startedAt = performance.now()
  readonly #counts = { passed: 0, failed: 0, skipped: 0 }
  readonly #details: Array<string> = []
  readonly #failures: Array<Array<string>> = []
  /** The tests that enclose the current line. If something in one of them failed, its own failure needs no mention. */
  #enclosing: Array<{ readonly name: string; failed: boolean; isEmpty: boolean }> = []
  #results = 0
  #detailsIndent: number | undefined
  #isLeftOut = false

  constructor(file: string) {
    this.file = file
  }

  read(line: string): void {
    const indent = indentOf(line)
    if (this.#detailsIndent !== undefined && indent >= this.#detailsIndent) return this.#detail(line.slice(this.#detailsIndent))
    this.#detailsIndent = undefined
    const depth = indent / 4
    const [, subtest] = /^ *# Subtest: (.*)$/.exec(line) ?? []
    if (subtest !== undefined) this.#enclosing = [...this.#enclosing.slice(0, depth), { name: subtest, failed: false, isEmpty: true }]
    else if (/^ *(not )?ok \d+/.test(line)) this.#result(line, depth)
    else if (line.startsWith("Bail out!")) this.fail(line)
  }

  /** A failure of the file's process. */
  fail(reason: string): void {
    this.#results++
    this.#counts.failed++
    this.#addFailure(reason)
  }

  get hasFailed(): boolean {
    return this.#failures.length > 0
  }

  /** The file has ended, or its process has. */
  close(cpuSeconds?: number): FileReport {
    if (this.#results === 0) this.fail(this.hasFailed ? "test unfinished" : "no tests")
    return {
      file: this.file,
      seconds: (performance.now() - this.#startedAt) / 1000,
      cpuSeconds,
      ...this.#counts,
      details: this.#details,
      failures: this.#failures.map((lines) => lines.slice(0, shortLines))
    }
  }

  #result(line: string, depth: number): void {
    const [, not, title = "", directive] = /^ *(not )?ok \d+(?: - (.*?))?(?: # (.*))?$/.exec(line) ?? []
    const ended = this.#enclosing[depth]
    const enclosing = this.#enclosing.slice(0, depth)
    const name = [...enclosing.map((test) => test.name), title].join(" > ")
    this.#enclosing = enclosing
    const parent = enclosing.at(-1)
    if (parent !== undefined) parent.isEmpty = false
    if (depth === 0) this.#results++
    if (directive?.startsWith("SKIP") === true) {
      this.#counts.skipped++
      this.#details.push(`  - skipped: ${name}: ${directive.slice("SKIP ".length)}`)
    } else if (not === undefined) {
      if (ended?.isEmpty !== false) this.#counts.passed++
    } else {
      if (parent !== undefined) parent.failed = true
      if (ended?.failed === true) return
      this.#counts.failed++
      this.#addFailure(name)
      this.#detailsIndent = depth * 4 + 2
    }
  }

  #addFailure(name: string): void {
    this.#details.push(`  x ${name}`)
    this.#failures.push([`  x ${name}`])
  }

  #detail(line: string): void {
    this.#details.push(`    ${line}`)
    if (/^\S/.test(line)) this.#isLeftOut = isPlace.test(line)
    if (!this.#isLeftOut) this.#failures.at(-1)?.push(`    ${line.slice(0, shortLength)}`)
  }
}
