/** The engine, which also reports its CPU time and allocations. */
import { launch } from "#runtime/main.ts"
import { answerAllocation } from "./Allocation.ts"
import { answerCpu } from "./Cpu.ts"

answerAllocation()
answerCpu()
launch()
