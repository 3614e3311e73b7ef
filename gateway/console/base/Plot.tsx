/** Figures over time. */
import { useEffect, useRef } from "preact/hooks"
import Curves from "uplot"
import "uplot/dist/uPlot.min.css"
import { caller } from "./caller.ts"
import { type Color, colorAt } from "./color.ts"

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

const optionsOf = (place: HTMLElement, curves: ReadonlyArray<Curve>): Curves.Options => {
  const line = { stroke: colorAt(place, "--line"), width: 1 }
  const axis: Curves.Axis = { stroke: colorAt(place, "--ink"), grid: line, ticks: line }
  const zone = caller.value?.timezone ?? undefined
  return {
    width: place.clientWidth,
    height: HEIGHT,
    ...(zone === undefined ? {} : { tzDate: (seconds: number) => Curves.tzDate(new Date(seconds * 1000), zone) }),
    axes: [axis, { ...axis, size: 48 }],
    series: [
      {},
      ...curves.map(({ color: name, dash, name: label }) => ({
        label,
        stroke: colorAt(place, name),
        width: 2,
        ...(dash === undefined ? {} : { dash: [...dash] })
      }))
    ]
  }
}

export const Plot = ({ curves, label, times }: PlotProps) => {
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<Curves>(undefined)
  const data: Curves.AlignedData = [times.map((at) => at / 1000), ...curves.map(({ values }) => [...values])]
  useEffect(() => {
    const { current } = place
    if (current === null) return
    const draw = () => {
      drawn.current?.destroy()
      drawn.current = new Curves(optionsOf(current, curves), data, current)
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
