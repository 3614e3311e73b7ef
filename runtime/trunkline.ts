#!/usr/bin/env node
/**
 * The package's command: `trunkline` starts the engine, `migrate` only brings the schema up to date, `restored` pauses the campaigns of a
 * restored database, `copy-files` copies a folder into a bucket.
 */
const command = process.argv[2]
if (command === undefined) {
  const { launch } = await import("./main.ts")
  launch()
} else if (command === "migrate") {
  await import("./migrateNow.ts")
} else if (command === "restored") {
  await import("./restoredNow.ts")
} else if (command === "copy-files") {
  await import("./copyFiles.ts")
} else {
  process.stderr.write("Usage: trunkline [migrate | restored | copy-files FOLDER]\n")
  process.exitCode = 1
}
