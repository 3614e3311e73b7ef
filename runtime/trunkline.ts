#!/usr/bin/env node
/**
 * The command of the package: `trunkline` starts the engine, `trunkline migrate` only brings the schema up to date, and `trunkline restored` pauses the
 * campaigns of a database that was restored.
 */
const command = process.argv[2]
if (command === undefined) {
  const { launch } = await import("./main.ts")
  launch()
} else if (command === "migrate") {
  await import("./migrateNow.ts")
} else if (command === "restored") {
  await import("./restoredNow.ts")
} else {
  process.stderr.write("Usage: trunkline [migrate | restored]\n")
  process.exitCode = 1
}
