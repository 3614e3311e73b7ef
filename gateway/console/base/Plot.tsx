/** Figures over time. */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import Curves from "uplot"
import "uplot/dist/uPlot.min.css"
import { apart } from "./apart.ts"
import { caller } from "./caller.ts"
import { type Color, colorAt } from "./color.ts"
import { figure, moment } from "./words.ts"

export interface Curve {
  readonly name: string
  readonly color: Color
  /** CSS pixels of dashes and gaps, because color alone tells some people nothing. */
  readonly dash?: ReadonlyArray<number>
  readonly values: ReadonlyArray<number | null>
}

interface PlotProps {
  readonly label: string
  /** Epoch milliseconds, in ascending order. */
  readonly times: ReadonlyArray<number>
  readonly curves: ReadonlyArray<Curve>
}

const HEIGHT = 200
const LINE_WIDTH = 2
/** Of the about 120 CSS pixels below the highest value: a line, and a gap that separates it from the next one. */
const APART = 0.03

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Seconds between two labels of the time; the widest label is about as wide as `LABEL_WIDTH` CSS pixels. */
const steps = [1, 2, 5, 10, 30]
  .map((minutes) => minutes * MINUTE)
  .concat(
    [1, 2, 3, 6, 12].map((hours) => hours * HOUR),
    [1, 2, 7, 14, 28].map((days) => days * DAY)
  )
const LABEL_WIDTH = 64

/** Between two labels of a value, because all of them are counts. */
const wholeSteps = [1, 10, 100, 1000, 10_000, 100_000].flatMap((power) => [power, 2 * power, 5 * power])

/** The time of the day, and the day in place of midnight. */
const labelsIn = (timeZone: string | undefined) => {
  const zone = timeZone === undefined ? {} : { timeZone }
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", ...zone })
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", ...zone })
  return (_: Curves, places: Array<number>): Array<string> =>
    places.map((seconds) => {
      const at = new Date(seconds * 1000)
      const shown = time.format(at)
      return shown === "00:00" ? day.format(at) : shown
    })
}

/** A piece of the curve's line, as a background, because a border knows fewer dashes. */
const sampleOf = (color: string, dash: ReadonlyArray<number> = [1, 0]): string => {
  const ends = dash.map((_, at) => dash.slice(0, at + 1).reduce((sum, length) => sum + length, 0))
  const stops = ends.map((end, at) => `${at % 2 === 0 ? color : "transparent"} ${ends[at - 1] ?? 0}px ${end}px`)
  return `repeating-linear-gradient(90deg, ${stops.join(", ")})`
}

/** Of the place that is pointed at, or the last that has any. */
const placeOf = (curves: ReadonlyArray<Curve>, pointedAt: number | null): number =>
  pointedAt ??
  curves.reduce(
    (last, { values }) =>
      Math.max(
        last,
        values.findLastIndex((value) => value !== null)
      ),
    0
  )

interface LegendProps extends Pick<PlotProps, "curves" | "times"> {
  readonly hidden: Signal<ReadonlySet<string>>
  readonly pointedAt: Signal<number | null>
  readonly toggle: (name: string) => void
}

/** The values at one time; each curve can be left out of the plot. */
const Legend = ({ curves, hidden, pointedAt, times, toggle }: LegendProps) => {
  const place = placeOf(curves, pointedAt.value)
  return (
    <div class="choices legend">
      <span>{moment(new Date(times[place] ?? 0).toISOString())}</span>
      {curves.map(({ color, dash, name, values }) => (
        <button key={name} type="button" aria-pressed={!hidden.value.has(name)} onClick={() => toggle(name)}>
          <span class="mark" style={{ background: sampleOf(`var(${color})`, dash) }} /> {name} {figure(values[place] ?? 0)}
        </button>
      ))}
    </div>
  )
}

const optionsOf = (place: HTMLElement, curves: ReadonlyArray<Curve>, onPoint: (place: number | null) => void): Curves.Options => {
  const line = { stroke: colorAt(place, "--line"), width: 1 }
  const axis: Curves.Axis = { stroke: colorAt(place, "--ink"), grid: line, ticks: line }
  const zone = caller.value?.timezone ?? undefined
  return {
    width: place.clientWidth,
    height: HEIGHT,
    ...(zone === undefined ? {} : { tzDate: (seconds: number) => Curves.tzDate(new Date(seconds * 1000), zone) }),
    axes: [
      { ...axis, incrs: steps, space: LABEL_WIDTH, values: labelsIn(zone) },
      { ...axis, incrs: wholeSteps, size: 48 }
    ],
    // Ours can be used with a keyboard.
    legend: { show: false },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    series: [
      {},
      ...curves.map(({ color, dash }) => ({
        stroke: colorAt(place, color),
        width: LINE_WIDTH,
        ...(dash === undefined ? {} : { dash: [...dash] })
      }))
    ]
  }
}

export const Plot = ({ curves, label, times }: PlotProps) => {
  const hidden = useSignal<ReadonlySet<string>>(new Set())
  const pointedAt = useSignal<number | null>(null)
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<Curves>(undefined)
  // What is left out takes no room: the others need not be apart from it.
  const lines = apart(
    curves.map(({ name, values }) => (hidden.value.has(name) ? values.map(() => null) : values)),
    APART
  )
  const data: Curves.AlignedData = [times.map((at) => at / 1000), ...lines.map((values) => [...values])]
  const latest = useRef(data)
  latest.current = data
  useEffect(() => {
    const { current } = place
    if (current === null) return
    const draw = () => {
      drawn.current?.destroy()
      drawn.current = new Curves(
        optionsOf(current, curves, (at) => {
          pointedAt.value = at
        }),
        latest.current,
        current
      )
    }
    draw()
    const scheme = matchMedia("(prefers-color-scheme: dark)")
    scheme.addEventListener("change", draw)
    const sized = new ResizeObserver(() => drawn.current?.setSize({ width: current.clientWidth, height: HEIGHT }))
    sized.observe(current)
    return () => {
      scheme.removeEventListener("change", draw)
      sized.disconnect()
      drawn.current?.destroy()
      drawn.current = undefined
    }
  }, [curves.map(({ name }) => name).join()])
  useEffect(() => drawn.current?.setData(data), [data])
  const toggle = (name: string) => {
    const others = new Set(hidden.peek())
    if (!others.delete(name)) others.add(name)
    hidden.value = others
  }
  return (
    <>
      <div ref={place} class="plot" role="img" aria-label={label} />
      <Legend curves={curves} times={times} hidden={hidden} pointedAt={pointedAt} toggle={toggle} />
    </>
  )
}
