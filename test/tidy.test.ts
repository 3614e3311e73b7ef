/** The rules of the house that a program can check: who may import whom, how long a file may be, which words and casts are out. */
import { readdirSync, readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import t from "tap"
import { variables } from "#runtime/config/config.ts"
import { alone, longest, proving, realTime } from "./support/namedFiles.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const self = relative(root, fileURLToPath(import.meta.url))
const maxLines = 400
const folders = ["core", "adapters", "gateway", "runtime", "test", "deploy", ".ci", ".github"]
const textFile = /\.(tsx?|js|json|sql|md|sh|conf|yaml|service)$|^[^.]+$/

interface Source {
  readonly path: string
  readonly folder: string
  readonly text: string
  readonly lines: ReadonlyArray<string>
}
const read = (path: string): Source => {
  const text = readFileSync(join(root, path), "utf8")
  return { path, folder: path.split("/")[0] ?? "", text, lines: text.split("\n") }
}
const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && textFile.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
const topFiles = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== "package-lock.json" && textFile.test(entry.name))
  .map((entry) => entry.name)

const texts = [...folders.flatMap(filesBelow), ...topFiles].filter((path) => path !== self).map(read)
const sources = texts.filter(({ path }) => /\.(tsx?|js)$/.test(path))
const isProduct = ({ folder }: Source) => ["core", "adapters", "gateway", "runtime"].includes(folder)
const isTest = ({ folder }: Source) => folder === "test"
// The launcher asks which adapters are wanted before there is any code to read settings with; commands that try an agent out have one setting, and no engine.
const readers = ["runtime/config/config.ts", "runtime/start.js", "runtime/agentCommand.ts"]
const readsNoEnvironment = (source: Source) => isProduct(source) && !readers.includes(source.path)

// --- who may import whom

// Several lines long, an import ends in `} from "..."`.
const imported = /^(?:import|export|\})[^"'\n]*\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"/gm
const importsOf = ({ text }: Source): ReadonlyArray<string> =>
  [...text.matchAll(imported)].map(([, from, effect, dynamic]) => from ?? effect ?? dynamic ?? "")

// The engine is put together here, and the gateway's ports are tied to it.
const composers = ["runtime/main.ts", "runtime/plugins.ts", "runtime/ports.ts", "runtime/servicePlugins.ts", "runtime/agentCommand.ts"]
/** Our own folders that a file may import from, besides its own. */
const reachable = (source: Source): ReadonlyArray<string> => {
  if (isTest(source) || source.folder === "deploy") return folders
  if (composers.includes(source.path)) return ["core", "gateway", "adapters"]
  return source.folder === "core" ? [] : ["core"]
}
const isPackage = (from: string) => !from.startsWith(".") && !from.startsWith("#")

const strayImports = (source: Source): ReadonlyArray<string> =>
  importsOf(source)
    .filter((from) => {
      if (from.startsWith(".")) return ![source.folder, "package.json"].includes(join(dirname(source.path), from).split("/")[0] ?? "")
      if (from.startsWith("#")) return ![source.folder, ...reachable(source)].includes(from.slice(1).split("/")[0] ?? "")
      return source.folder === "core" && from !== "effect" && !from.startsWith("effect/")
    })
    .map((from) => `${source.path} imports ${from}`)

/** Undefined for packages. */
const targetOf = (source: Source, from: string): string | undefined => {
  if (isPackage(from)) return undefined
  return from.startsWith("#") ? from.slice(1) : join(dirname(source.path), from)
}

/** `adapters/ari`, `adapters/voice/openai` and the like: each knows itself and what is shared. */
const adapterOf = (path: string): string | undefined => /^adapters\/(voice\/[^/]+|[^/]+)\//.exec(path)?.[1]
const sharedWith = (adapter: string) => (adapter.startsWith("voice/") ? ["shared", "voice/shared"] : ["shared"])
const importedAdapters = (source: Source): ReadonlyArray<string> => {
  const own = adapterOf(source.path)
  if (own === undefined) return []
  return importsOf(source)
    .flatMap((from) => targetOf(source, from) ?? [])
    .filter((path) => path.startsWith("adapters/") && ![own, ...sharedWith(own)].includes(adapterOf(path) ?? ""))
    .map((path) => `${source.path} imports ${path}`)
}

t.test("imports go one way", async (t) => {
  t.strictSame(sources.flatMap(strayImports), [], "core imports effect alone, adapters and gateway core, runtime core, nothing test")
  t.strictSame(sources.flatMap(importedAdapters), [], "no adapter knows another")
  const http = sources.filter(({ folder, text }) => folder === "core" && /^import (?!type )[^"']*"effect\/http/m.test(text))
  const paths = http.map(({ path }) => path)
  t.strictSame(paths, [], "core takes only types from effect/http")
})

type Graph = ReadonlyMap<string, ReadonlySet<string>>
/** Groups of nodes that reach each other, by Tarjan's algorithm; each is sorted. */
const circlesOf = (graph: Graph): ReadonlyArray<string> => {
  const order = new Map<string, number>()
  const stack: Array<string> = []
  const found: Array<string> = []
  const visit = (node: string): number => {
    const at = order.size
    order.set(node, at)
    let least = at
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) least = Math.min(least, visit(next))
      else if (stack.includes(next)) least = Math.min(least, order.get(next) ?? least)
    }
    if (least < at) return least
    const circle = stack.splice(stack.indexOf(node))
    if (circle.length > 1) found.push(circle.toSorted().join(", "))
    return least
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return found
}
/** Who imports whom, types included, with each file named by `nameOf`. */
const importGraph = (nameOf: (path: string) => string): Graph => {
  const graph = new Map<string, Set<string>>()
  for (const source of sources.filter(isProduct)) {
    const name = nameOf(source.path)
    const targets = graph.get(name) ?? new Set()
    graph.set(name, targets)
    for (const from of importsOf(source)) {
      const target = targetOf(source, from)
      if (/\.tsx?$/.test(target ?? "") && target !== undefined && nameOf(target) !== name) targets.add(nameOf(target))
    }
  }
  return graph
}

t.test("imports run in no circle", async (t) => {
  t.strictSame(
    circlesOf(
      new Map([
        ["a", new Set(["b"])],
        ["b", new Set(["c"])],
        ["c", new Set(["b"])]
      ])
    ),
    ["b, c"]
  )
  t.strictSame(circlesOf(importGraph((path) => path)), [], "of files")
  t.strictSame(circlesOf(importGraph(dirname)), [], "of folders")
  const afar = sources
    .filter(isProduct)
    .flatMap(({ path, ...source }) =>
      importsOf({ path, ...source }).flatMap((from) => (from.startsWith("../") && from.endsWith(".ts") ? [`${path} imports ${from}`] : []))
    )
  t.strictSame(afar, [], "what is in another folder is imported by its name from the top: #core/...")
})

// --- exports

const listed = (names = ""): ReadonlyArray<string> =>
  names.split(",").map(
    (name) =>
      name
        .trim()
        .replace(/^type /, "")
        .split(" as ")[0] ?? ""
  )
/** The names that a file takes from others: `path name`, or `path *` where it takes whatever there is. */
const takenBy = (source: Source): ReadonlyArray<string> => {
  const { text } = source
  const taken = (from: string, names: ReadonlyArray<string>) => {
    const target = targetOf(source, from)
    return target === undefined ? [] : names.map((name) => `${target} ${name}`)
  }
  const membersOf = (space: string) => [
    ...[...text.matchAll(new RegExp(`\\b${space}\\s*\\.\\s*(\\w+)`, "g"))].map(([, name = ""]) => name),
    ...[...text.matchAll(new RegExp(`\\{([^}]*)\\}\\s*=\\s*${space}\\b`, "g"))].flatMap(([, names]) => listed(names))
  ]
  return [
    ...[...text.matchAll(/(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"([^"]+)"/g)].flatMap(([, names, from = ""]) =>
      taken(from, listed(names))
    ),
    ...[...text.matchAll(/import\s+(?:type\s+)?\*\s+as\s+(\w+)\s+from\s+"([^"]+)"/g)].flatMap(([, space = "", from = ""]) =>
      taken(from, membersOf(space))
    ),
    ...[...text.matchAll(/export\s+\*\s+(?:as\s+\w+\s+)?from\s+"([^"]+)"|import\("([^"]+)"\)/g)].flatMap(([, all, dynamic]) =>
      taken(all ?? dynamic ?? "", ["*"])
    )
  ]
}
const exported = /^export\s+(?:abstract\s+)?(?:const|let|function\*?|class|interface|type|async function)\s+(\w+)/gm

t.test("what is exported is used elsewhere", async (t) => {
  const taken = new Set(sources.flatMap(takenBy))
  const unused = sources.flatMap(({ path, text }) =>
    [...text.matchAll(exported)]
      .filter(([, name]) => !taken.has(`${path} ${name}`) && !taken.has(`${path} *`))
      .map(([, name]) => `${path} ${name}`)
  )
  t.strictSame([...new Set(unused)], [])
})

// --- lengths and words

t.test("the table of dependencies names each of them, and nothing else", async (t) => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read("package.json").text)
  const used = Object.entries<string>({ ...dependencies, ...devDependencies, ...optionalDependencies })
  const [table = ""] = /^## Dependencies\n.*?(?=^Before)/ms.exec(read("core/DECISIONS.md").text) ?? []
  const named = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, one = ""]) => one)
  )
  const isNamedBy = (one: string, [name, version]: readonly [string, string]) =>
    one === name || one === `${dirname(name)}/*` || version.startsWith(`npm:${one}@`)
  const missing = used.filter((dependency) => !named.some((one) => isNamedBy(one, dependency)))
  t.strictSame(Object.fromEntries(missing), {}, "core/DECISIONS.md says what doing without each would take")
  const gone = named.filter((one) => !used.some((dependency) => isNamedBy(one, dependency)))
  t.strictSame(gone, [], "and names none that is not there")
})

t.test(`no file is longer than ${maxLines} lines`, async (t) => {
  const long = sources.filter(({ lines }) => lines.length - 1 > maxLines)
  const tooLong = long.map(({ lines, path }) => `${path}: ${lines.length - 1}`)
  t.strictSame(tooLong, [])
})

/** A hosted adapter is what its carrier does differently; what two of them have in common is in `adapters/shared`. */
const maxAdapterLines = 400
const isCodeTable = ({ path }: Source) => /[cC]odes\.ts$/.test(path)

t.test(`no hosted adapter has more than ${maxAdapterLines} lines, tables of codes not counted`, async (t) => {
  const adapters = Map.groupBy(sources, ({ path }) => adapterOf(path))
  const isHosted = (source: Source) => importsOf(source).includes("#adapters/shared/hostedAdapter.ts")
  const hosted = [...adapters].flatMap(([name, files]) => (name === undefined || name === "shared" || !files.some(isHosted) ? [] : [name]))
  t.ok(hosted.length >= 6, "all of them are found")
  for (const name of hosted) {
    const counted = (adapters.get(name) ?? []).filter((source) => !isCodeTable(source))
    const lines = counted.reduce((sum, source) => sum + source.lines.length - 1, 0)
    t.ok(lines <= maxAdapterLines, `${name}: ${lines} lines in ${counted.length} files`)
  }
})

interface Banned {
  readonly what: string
  readonly pattern: RegExp
  readonly where: (source: Source) => boolean
}
const everywhere = () => true
const isRuntimeAbovePostgres = ({ folder, path }: Source) => folder === "runtime" && !path.startsWith("runtime/postgres/")
/** Browsers run no Effect. */
const isNotBrowserClock = (source: Source) => isProduct(source) && source.path !== "gateway/console/base/clock.ts"
const isNotCampaignLog = (source: Source) => isProduct(source) && source.path !== "core/CampaignLog.ts"
const isProductText = ({ folder, path }: Source) => folder !== "test" && /\.(ts|md)$/.test(path) && !path.startsWith("core/migrations/")
/** Say what happens in the field's words: "again", "the client", "forever", "undefined: unsupported method". */
const translated = [
  /\banew\b/,
  /\b[Ww]hoever asks\b/,
  /\bfor ever\b/,
  /\bof so many\b/,
  /nobody's business/,
  /Undefined: none that/,
  /none that there is/,
  /\bSo long a /,
  /\bmay never more\b/,
  /\bmay all that\b/,
  /\b[Bb]elongs into\b/
]
const banned: ReadonlyArray<Banned> = [
  { what: "a suppressed check", pattern: /@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-disable/, where: everywhere },
  { what: "work left for later", pattern: /\b(TODO|FIXME|XXX|HACK)\b/, where: everywhere },
  { what: "a path of somebody's machine", pattern: /(^|[^\w.*/-])\/(home|Users|root|work)\/[\w.]/, where: everywhere },
  { what: "the system clock: use Clock", pattern: /\bDate\.now\(|\bnew Date\(\)/, where: isNotBrowserClock },
  { what: "unseeded chance: use Random or node:crypto", pattern: /\bMath\.random\(/, where: isProduct },
  { what: "the console: use Effect.log", pattern: /\bconsole\.(debug|error|info|log|trace|warn)\b/, where: isProduct },
  { what: "the environment outside of runtime/config/config.ts", pattern: /\bprocess\.env\b/, where: readsNoEnvironment },
  {
    what: "all of @effect/platform-node, Redis and HTTP clients included: import one of its modules",
    pattern: /from "@effect\/platform-node"/,
    where: isProduct
  },
  {
    what: "private data in a log",
    pattern: /annotateLogs\(\{[^}]*\b(phone\w*|to|from|password|token|transcript|body)\b/,
    where: isProduct
  },
  {
    what: "a name in a log whose value runtime/metrics/telemetry.ts masks",
    pattern: /Effect\.log\w+\("[^"]*", (?:\{|\{[^}]*,) *\w*(phone|credential|context|digits|greeting|secret|token|transcript)\w*\s*[,:}]/i,
    where: isProduct
  },
  {
    what: "a metric of Effect: count in plain numbers, see runtime/metrics/metrics.ts",
    pattern: /\bMetric\.(counter|gauge|histogram|frequency|summary|timer|update)\b/,
    where: isProduct
  },
  { what: "an entry of a campaign's log not written with CampaignLog.ts", pattern: /INSERT INTO campaign_log/, where: isNotCampaignLog },
  {
    what: "SQL in runtime outside of runtime/postgres: it belongs in the store of its concept, in core",
    pattern: /\bsql(<.*>)?`|\b(SELECT|INSERT INTO|DELETE FROM) |\bUPDATE \S+ SET\b/,
    where: isRuntimeAbovePostgres
  },
  {
    what: "a phrase that reads as translated",
    pattern: new RegExp(translated.map(({ source }) => source).join("|")),
    where: isProductText
  },
  { what: "a test that is left out", pattern: /\bt\.(skip|only)\(|\bonly: true/, where: isTest }
]

t.test("banned words", async (t) => {
  for (const { pattern, what, where } of banned) {
    const found = texts
      .filter(where)
      .flatMap(({ lines, path }) => lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])))
    t.strictSame(found, [], what)
  }
})

// --- types and casts

/** Of the part of a line before a match. */
const isInComment = (before: string) =>
  /^\s*\*/.test(before) || before.includes("//") || before.lastIndexOf("/*") > before.lastIndexOf("*/")
/** Where `pattern` stands in a type: what the type stripper leaves blank. */
const inTypes = ({ path, text }: Source, pattern: RegExp): ReadonlyArray<{ readonly line: number; readonly at: string }> => {
  // Node strips no types from JSX, where the linter finds `any`.
  if (path.endsWith(".tsx")) return []
  const stripped = stripTypeScriptTypes(text)
  return [...text.matchAll(pattern)]
    .filter(({ 0: match, index }) => stripped.slice(index, index + match.length).trim() === "")
    .map(({ index }) => {
      const before = text.slice(0, index).split("\n")
      return { line: before.length, at: `${path}:${before.length}`, isCode: !isInComment(before.at(-1) ?? "") }
    })
    .filter(({ isCode }) => isCode)
}
const hasComment = (line = "") => /\/\/|\*\//.test(line)
const isExplained = ({ lines }: Source, line: number) => hasComment(lines[line - 1]) || hasComment(lines[line - 2])
const isImport = ({ lines }: Source, line: number) => /^(import|export)\b.*\bfrom\b/.test(lines[line - 1] ?? "")

t.test("types", async (t) => {
  const places = sources.flatMap((source) => inTypes(source, /\bany\b/g).map(({ at }) => at))
  t.strictSame(places, [], "no any")
  const casts = sources.filter(isProduct).flatMap((source) =>
    inTypes(source, /(?<=[\w)\]}"`!] |\n *)as\s+(?!const\b)/g)
      .filter(({ line }) => !isExplained(source, line) && !isImport(source, line))
      .map(({ at }) => at)
  )
  t.strictSame(casts, [], "each cast says in a comment why it holds")
})

// --- the test run

const withoutFile = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const files = new Set(filesBelow("test"))
  return paths.filter((path) => !files.has(path))
}

t.test("test files that are named for how they are run exist", async (t) => {
  t.strictSame(withoutFile([self, "test/renamed.test.ts"]), ["test/renamed.test.ts"])
  t.strictSame(withoutFile(alone), [], "of those that run alone")
  t.strictSame(withoutFile(longest), [], "of those that take longest")
  t.strictSame(withoutFile([...realTime.keys()]), [], "of those that need real time")
  t.strictSame(withoutFile(proving), [], "of the journeys that belong to the tests")
})

// --- deploy/README.md

/** `| \`NAME\` | default | description |`, of the table that begins with PORT. */
const rowOf = ({ default: value, description, name }: (typeof variables)[number]): string =>
  `| \`${name}\` | ${value === undefined ? "" : `\`${value}\``} | ${description} |`

t.test("deploy/README.md lists the configuration as it is", async (t) => {
  const page = texts.find(({ path }) => path === "deploy/README.md")
  const rows = (page?.lines ?? []).filter((line) => variables.some(({ name }) => line.startsWith(`| \`${name}\` |`)))
  t.strictSame(rows, variables.map(rowOf))
})
