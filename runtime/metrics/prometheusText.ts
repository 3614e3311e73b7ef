/** Metrics in the text format of Prometheus, version 0.0.4. */
import type { Histogram } from "#core/Histogram.ts"

type Labels = Readonly<Record<string, string>>

export interface Family {
  readonly name: string
  readonly type: "gauge" | "counter" | "histogram"
  readonly help: string
  /** `suffix` follows the family's name in the lines of a histogram. */
  readonly samples: ReadonlyArray<{ readonly suffix?: string; readonly labels: Labels; readonly value: number }>
}

type Labelled<A> = readonly [labels: Labels, of: A]

const samplesOf = (values: number | ReadonlyArray<Labelled<number>>): Family["samples"] =>
  typeof values === "number" ? [{ labels: {}, value: values }] : values.map(([labels, value]) => ({ labels, value }))

export const gauge = (name: string, help: string, values: number | ReadonlyArray<Labelled<number>>): Family => ({
  name,
  type: "gauge",
  help,
  samples: samplesOf(values)
})

export const counter = (name: string, help: string, values: number | ReadonlyArray<Labelled<number>>): Family => ({
  name,
  type: "counter",
  help,
  samples: samplesOf(values)
})

export const histogram = (name: string, help: string, histograms: Histogram | ReadonlyArray<Labelled<Histogram>>): Family => {
  const all: ReadonlyArray<Labelled<Histogram>> = "bounds" in histograms ? [[{}, histograms]] : histograms
  return { name, type: "histogram", help, samples: all.flatMap(([labels, one]) => histogramSamples(labels, one)) }
}

const histogramSamples = (labels: Labels, { bounds, counts, sum }: Histogram): Family["samples"] => {
  let below = 0
  const buckets = counts.map((count, at) => ({
    suffix: "_bucket",
    labels: { ...labels, le: String(bounds[at] ?? "+Inf") },
    value: (below += count)
  }))
  return [...buckets, { suffix: "_sum", labels, value: sum }, { suffix: "_count", labels, value: below }]
}

const escaped = (value: string): string => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
const labelText = (labels: Labels): string => {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return parts.length === 0 ? "" : `{${parts.join(",")}}`
}

export const textOf = ({ help, name, samples, type }: Family): string =>
  [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels, suffix = "", value }) => `${name}${suffix}${labelText(labels)} ${value}`),
    ""
  ].join("\n")
