/**
 * The labelled points of the dial protocol, between any two of which a process may die. Tests end the process at each of them; otherwise
 * passing one does nothing.
 */
import { Context } from "effect"

export const dialPoints = ["claimed", "marked sent", "refused", "accepted", "answered", "answer recorded", "ended", "end recorded"] as const
export type DialPoint = (typeof dialPoints)[number]

export const PassDialPoint = Context.Reference<(point: DialPoint) => void>("runtime/call/PassDialPoint", { defaultValue: () => () => {} })
