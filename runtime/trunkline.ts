#!/usr/bin/env node
/** The command of the package: `trunkline` starts the engine, `trunkline migrate` only brings the schema up to date. */
const command = process.argv[2]
if (command === undefined) {
  const { launch } = await import("./main.ts")
  launch()
} else if (command === "migrate") {
  await import("./migrateNow.ts")
} else {
  process.stderr.write("Usage: trunkline [migrate]\n")
  process.exitCode = 1
}
