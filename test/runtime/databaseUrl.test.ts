/** The address of the database: what libpq and the consoles of providers write into it is obeyed or refused by name. */
import { Redacted, Result } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import t from "tap"
import { type DatabaseUrl, readDatabaseUrl } from "#runtime/config/DatabaseUrl.ts"

const plain = { host: "db.example.com", port: 5432, database: "calls", username: "app", sslmode: "prefer" } as const
const at = "postgres://app:hunter2@db.example.com/calls"

t.test("an address is read as libpq reads it", async (t) => {
  const check = (url: string, expected: Partial<DatabaseUrl>, password = "hunter2") => {
    const read = readDatabaseUrl(url)
    if (Result.isFailure(read)) return void t.fail(`${url}: ${read.failure}`)
    t.match(read.success, { ...plain, ...expected }, url)
    t.equal(read.success.password && Redacted.value(read.success.password), password, url)
  }
  check(at, {})
  check("postgresql://app:hunter2@[2001:db8::1]:6432/calls", { host: "2001:db8::1", port: 6432 })
  check("postgres://a%40b:hunter2@db.example.com/my%2Fcalls", { username: "a@b", database: "my/calls" })
  check("postgres://app:h%25u%2Fn@db.example.com/calls", {}, "h%u/n")
  check("postgres://app:p@ss@db.example.com/calls", {}, "p@ss")
  check("postgres://app:hunter2@/calls?host=/run/postgresql", { host: "/run/postgresql" })
  check("postgres://app:hunter2@%2Frun%2Fpostgresql/calls", { host: "/run/postgresql" })
  check("postgres://db.example.com/?user=app&password=hunter2&dbname=calls&port=6543", { port: 6543 })
  check(`${at}?options=-c%20search_path%3Dx&application_name=dialer&connect_timeout=15`, {
    options: "-c search_path=x",
    applicationName: "dialer",
    connectTimeoutSeconds: 15
  })
  check(`${at}?options=-c+search_path%3Dx`, { options: "-c search_path=x" })
  for (const sslmode of ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"] as const)
    check(`${at}?sslmode=${sslmode}`, { sslmode })
  check(`${at}?ssl=true`, { sslmode: "require" })
  check(`${at}?ssl=true&sslmode=verify-full&sslrootcert=/ca.pem`, { sslmode: "verify-full", sslrootcert: "/ca.pem" })
  check(`${at}?sslrootcert=system`, { sslmode: "verify-full", sslrootcert: "system" })
  check(`${at}?sslmode=require&sslcert=/a.pem&sslkey=/a.key`, { sslmode: "require", sslcert: "/a.pem", sslkey: "/a.key" })
  check(`${at}?sslmode=require&channel_binding=prefer&uselibpqcompat=true&target_session_attrs=read-write`, { sslmode: "require" })
})

t.test("what cannot be obeyed is refused by name, and no part of a password is repeated", async (t) => {
  const check = (url: string, expected: RegExp) => {
    const read = readDatabaseUrl(url)
    if (Result.isSuccess(read)) return void t.fail(`${url} is read`)
    t.match(read.failure, expected, url)
    t.notMatch(read.failure, /hunter2|hunt|er2/, url)
  }
  check("postgres://app:hunter2%@db/calls", /a % in the password must be written as %25/)
  check("postgres://app:hunt%er2@db/calls", /a % in the password must be written as %25/)
  check("postgres://app:hunter2%ff@db/calls", /the password is not UTF-8/)
  check("postgres://app:hunt#er2@db/calls", /it is not a URL|a # must be written as %23/)
  check("postgres://app:1#hunter2@db/calls", /a # must be written as %23/)
  check("postgres://app:1/hunter2@db/calls", /a \/ in the password or the database must be written as %2F/)
  check("postgres://app:1?hunter2@db/calls", /a \? in the password must be written as %3F/)
  check("postgres://app:hunter2@db/calls/more", /must be written as %2F/)
  check("postgres://app:hunter2@/calls", /it names no host/)
  check("postgres://app:hunter2@one:5432,two:5432/calls", /only one host/)
  check("postgres://app:hunter2@one,two/calls", /only one host/)
  check("mysql://app:hunter2@db/calls", /must start with postgres:\/\//)
  check("app:hunter2", /must start with postgres:\/\//)
  check("host=db user=app password=hunter2", /it is not a URL/)
  check(`${at}?sslmode=verify_full`, /sslmode can only be disable, allow, prefer, require, verify-ca, verify-full, no-verify/)
  check(`${at}?sslmode=`, /sslmode can only be/)
  check(`${at}?ssl=false`, /ssl can only be true: use sslmode/)
  check(`${at}?sslmode=require&sslrootcert=system`, /sslrootcert=system needs sslmode=verify-full/)
  check(`${at}?sslcert=/a.pem`, /sslcert needs sslkey/)
  check(`${at}?sslkey=/a.pem`, /sslkey needs sslcert/)
  check(`${at}?channel_binding=require`, /channel_binding can only be disable or prefer here/)
  check(`${at}?target_session_attrs=standby`, /target_session_attrs can only be any or read-write or primary here/)
  check(`${at}?uselibpqcompat=false`, /uselibpqcompat can only be true here/)
  check(`${at}?sslnegotiation=direct`, /sslnegotiation can only be postgres here/)
  check(`${at}?gssencmode=require`, /gssencmode can only be/)
  check(`${at}?connect_timeout=0`, /connect_timeout must be a whole number from 1 to 600/)
  check(`${at}?connect_timeout=soon`, /connect_timeout must be/)
  check(`${at}?pgbouncer=true`, /the parameter pgbouncer is not supported/)
  check(`${at}?SSLMODE=require`, /the parameter SSLMODE is not supported/)
  check(`${at}?constructor=x`, /the parameter constructor is not supported/)
  check(`${at}?${"hunter2 ".repeat(3)}=1`, /a parameter is not supported/)
  check(`${at}?options=%zz`, /a % in a parameter must be written as %25/)
  check("postgres://app:hunter2@db:70000/calls", /it is not a URL/)
  check(`${at}?port=0`, /port must be a whole number from 1 to 65535/)
})

t.test("every command says what is wrong with the address, and fails", async (t) => {
  const run = (name: string) => {
    const program = fileURLToPath(new URL(`../../runtime/${name}.ts`, import.meta.url))
    // Through env, because tap makes every Node process that it sees report its coverage.
    return promisify(execFile)("env", ["-i", `DATABASE_URL=${at}?sslrootcert=/gone.pem`, process.execPath, program], { timeout: 300_000 })
  }
  for (const name of ["migrateNow", "restoredNow"]) {
    const said = await run(name).then(
      () => "nothing",
      ({ stderr, stdout }: { readonly stderr: string; readonly stdout: string }) => `${stdout}${stderr}`
    )
    t.match(said, /DATABASE_URL: sslrootcert: \/gone\.pem cannot be read \(ENOENT\)/, name)
    t.notMatch(said, /hunter2/)
  }
})
