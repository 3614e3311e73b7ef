import t from "tap"
import { type Figure, json, table } from "./Figure.ts"

const gateway: Figure = {
  name: "gateway",
  value: 74_842.4,
  unit: "/s",
  goal: { atLeast: 58_832.02043655602 },
  control: 73_540.0255
}
const rowsOf = (figures: ReadonlyArray<Figure>) =>
  table(figures)
    .split("\n")
    .slice(2)
    .map((line) => line.split(/ {2,}/))

t.test("given figures, when they are shown, then no number has more than its significant digits", async (t) => {
  t.strictSame(rowsOf([gateway, { name: "p50", value: 4.23456, unit: "ms", goal: { atMost: 2.5 }, control: 0.0123456 }]), [
    ["gateway", "74,842", "/s", ">= 58,832", "73,540", "1.02"],
    ["p50", "4.23", "ms", "<= 2.5", "MISSED", "0.0123", "343.00"]
  ])
})

t.test("given a figure, when it is written for a program, then its numbers are rounded in the same way", async (t) => {
  t.strictSame(JSON.parse(json(gateway)), {
    name: "gateway",
    value: 74_842,
    unit: "/s",
    goal: ">= 58832",
    control: 73_540,
    ratio: 1.02
  })
})
