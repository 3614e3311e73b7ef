/** The engine, exactly `runtime/main.ts`, which also reports how much memory it takes after a full garbage collection. Needs `--expose-gc`. */
import { launch } from "#runtime/main.ts"
import { answerMemory } from "./Memory.ts"

answerMemory()
launch()
