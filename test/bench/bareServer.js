/** The smallest possible service, to measure its start: the same HTTP server and one connection to Postgres. Plain JavaScript, so no types are stripped. */
import postgres from "postgres"
import * as uws from "uWebSockets.js"

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: 1 })
await sql`SELECT 1`
uws
  .App()
  .get("/*", (response) => void response.end("{}"))
  .listen("127.0.0.1", Number(process.env["PORT"]), () => {})
