/** The engine, exactly `runtime/main.ts`, which also says how much memory it takes once all garbage is collected. Needs `--expose-gc`. */
import { launch } from "#runtime/main.ts"
import { answerMemory } from "./Memory.ts"

answerMemory()
launch()
