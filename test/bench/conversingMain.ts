/** The engine, that also tells what it has spent and allocated. */
import { launch } from "#runtime/main.ts"
import { answerAllocation } from "./Allocation.ts"
import { answerCpu } from "./Cpu.ts"

answerAllocation()
answerCpu()
launch()
