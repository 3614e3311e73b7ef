/** The engine, exactly `runtime/main.ts`, which also says what it uses. */
import { launch } from "#runtime/main.ts"
import { answerMeasures } from "./Measures.ts"

answerMeasures()
launch()
