/** Figures that change with every call. The engine pushes them beside the events, so that pages that show them ask for nothing. */
import type { Progress, Quotas } from "./types.ts"

type Hear<A> = (value: A) => void

export class Pushed<A> {
  readonly #listeners = new Set<Hear<A>>()
  #newest: A | undefined

  push(value: A): void {
    this.#newest = value
    for (const hear of this.#listeners) hear(value)
  }

  forget(): void {
    this.#newest = undefined
  }

  /** The listener gets the newest one, if there is one, and each that comes. Returns how to stop. */
  readonly on = (hear: Hear<A>): (() => void) => {
    if (this.#newest !== undefined) hear(this.#newest)
    this.#listeners.add(hear)
    return () => void this.#listeners.delete(hear)
  }
}

export const pushedQuotas = new Pushed<Quotas>()

const byCampaign = new Map<number, Pushed<Progress>>()
export const pushedProgress = (id: number): Pushed<Progress> => {
  const known = byCampaign.get(id) ?? new Pushed<Progress>()
  byCampaign.set(id, known)
  return known
}

/** The messages of the stream by name, each of which has what the API answers elsewhere under that name. */
export const figures: Readonly<Record<string, (data: string) => void>> = {
  // The API keeps to its types.
  quotas: (data) => pushedQuotas.push(JSON.parse(data) as Quotas),
  progress: (data) => {
    const progress = JSON.parse(data) as Progress // See above.
    pushedProgress(progress.campaign_id).push(progress)
  }
}

export const forgetFigures = (): void => {
  pushedQuotas.forget()
  byCampaign.clear()
}
