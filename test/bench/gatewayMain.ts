/** The engine, that also tells what it has spent. */
import { launch } from "#runtime/main.ts"
import { answerCpu } from "./Cpu.ts"

answerCpu()
launch()
