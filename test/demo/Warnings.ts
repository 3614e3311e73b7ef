/** The warnings in the service's log, each with its number of occurrences. They help to explain an unexpected outcome. */
import { parse, textAt } from "#adapters/shared/Json.ts"

export class Warnings {
  readonly #counts = new Map<string, number>()

  /** Takes a line of the log. */
  read(line: string): void {
    const entry = parse(line)
    if (textAt(entry, "level") !== "Warn" && textAt(entry, "level") !== "Error") return
    const said = [textAt(entry, "message"), textAt(entry, "detail")].filter((part) => part !== undefined).join(": ")
    this.#counts.set(said, (this.#counts.get(said) ?? 0) + 1)
  }

  told(): ReadonlyArray<string> {
    return [...this.#counts].map(([said, count]) => (count === 1 ? said : `${said} (${count} times)`))
  }
}
