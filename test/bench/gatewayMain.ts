/** The engine, which also reports its CPU time. */
import { launch } from "#runtime/main.ts"
import { answerCpu } from "./Cpu.ts"

answerCpu()
launch()
