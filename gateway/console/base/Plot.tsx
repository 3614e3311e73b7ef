/** Figures over time. */
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

/** A piece of the curve's line, as the background of its mark in the legend, because a mark's border knows fewer dashes. */
const sampleOf = (color: string, dash: ReadonlyArray<number> = [1, 0]): string => {
  const ends = dash.map((_, at) => dash.slice(0, at + 1).reduce((sum, length) => sum + length, 0))
  const stops = ends.map((end, at) => `${at % 2 === 0 ? color : "transparent"} ${ends[at - 1] ?? 0}px ${end}px`)
  return `repeating-linear-gradient(90deg, ${stops.join(", ")})`
}

/** Of the place that is pointed at, or the last that has any. */
const placeOf = ({ curves }: PlotProps, pointedAt: number | null): number =>
  pointedAt ??
  curves.reduce(
    (last, { values }) =>
      Math.max(
        last,
        values.findLastIndex((value) => value !== null)
      ),
    0
  )

/** `shown`: what the plot shows at present. */
const optionsOf = (place: HTMLElement, shown: () => PlotProps): Curves.Options => {
  const { curves } = shown()
  const line = { stroke: colorAt(place, "--line"), width: 1 }
  const axis: Curves.Axis = { stroke: colorAt(place, "--ink"), grid: line, ticks: line }
  const zone = caller.value?.timezone ?? undefined
  const timeOf = (at: number) => moment(new Date(at).toISOString())
  return {
    width: place.clientWidth,
    height: HEIGHT,
    ...(zone === undefined ? {} : { tzDate: (seconds: number) => Curves.tzDate(new Date(seconds * 1000), zone) }),
    axes: [
      { ...axis, incrs: steps, space: LABEL_WIDTH, values: labelsIn(zone) },
      { ...axis, size: 48 }
    ],
    legend: { markers: { width: 0, fill: (_, at) => sampleOf(colorAt(place, curves[at - 1]?.color ?? "--ink"), curves[at - 1]?.dash) } },
    series: [
      { label: "At", value: (_, __, ___, pointedAt) => timeOf(shown().times[placeOf(shown(), pointedAt)] ?? 0) },
      ...curves.map(({ color: name, dash, name: label }, curve) => ({
        label,
        stroke: colorAt(place, name),
        width: LINE_WIDTH,
        value: (_: Curves, __: number, ___: number, pointedAt: number | null) =>
          figure(shown().curves[curve]?.values[placeOf(shown(), pointedAt)] ?? 0),
        ...(dash === undefined ? {} : { dash: [...dash] })
      }))
    ]
  }
}

export const Plot = (props: PlotProps) => {
  const { curves, label, times } = props
  const shown = useRef(props)
  shown.current = props
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<Curves>(undefined)
  const lines = apart(
    curves.map(({ values }) => values),
    APART
  )
  const data: Curves.AlignedData = [times.map((at) => at / 1000), ...lines.map((values) => [...values])]
  useEffect(() => {
    const { current } = place
    if (current === null) return
    const draw = () => {
      drawn.current?.destroy()
      drawn.current = new Curves(
        optionsOf(current, () => shown.current),
        data,
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
  return <div ref={place} class="plot" role="img" aria-label={label} />
}
