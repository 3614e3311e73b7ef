/**
 * The files that operators start from: image, compose file, systemd unit, alerts and dashboard. No container engine is needed: what they say is held
 * against the engine's own settings, metrics and files.
 */
import { Effect, Layer } from "effect"
import { existsSync, readFileSync } from "node:fs"
import t from "tap"
import { parse as parseYaml, parseAllDocuments } from "yaml"
import { Config, variables } from "#runtime/config/config.ts"
import { CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { metricsText } from "#runtime/metrics/metrics.ts"
import { CurrentWebhookMetrics, WebhookMetrics } from "#runtime/metrics/WebhookMetrics.ts"
import { PoolUse, PoolUses } from "#runtime/postgres/PoolUse.ts"
import { parse as parseMetrics } from "#test/support/prometheus.ts"

const root = new URL("../../", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}
const alerts: ReadonlyArray<Rule> = parseYaml(read("deploy/monitoring/alerts.yaml")).groups.flatMap(
  ({ rules }: { readonly rules: ReadonlyArray<Rule> }) => rules
)
interface Panel {
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: ReadonlyArray<{ readonly expr: string }>
}
const panels: ReadonlyArray<Panel> = JSON.parse(read("deploy/monitoring/dashboard.json")).panels

/** All families that an engine offers, by type. */
const families = () =>
  Effect.map(
    metricsText({
      decider: () => ({ callNodes: { calls: 0, heard: 0 }, isHeld: true, isTakeover: false, runningCampaigns: 0, seconds: 1 }),
      liveCalls: () => 0,
      media: () => ({ placed: 0, streams: 0, limit: 1, framesLate: 0 }),
      trunks: () => [],
      endpoints: () => [],
      routes: () => []
    }),
    (figures) => Effect.map(figures ?? Effect.succeed(""), (text) => parseMetrics(text).types)
  ).pipe(
    Effect.flatten,
    Effect.scoped,
    Effect.provide([
      Layer.succeed(PoolUses, { engine: new PoolUse(), requests: new PoolUse() }),
      Layer.succeed(CurrentCallMetrics, new CallMetrics()),
      Layer.succeed(CurrentWebhookMetrics, new WebhookMetrics()),
      Config.layerOf({})
    ]),
    Effect.runPromise
  )

/** What PromQL has of its own. */
const words = new Set(["sum", "rate", "increase", "resets", "histogram_quantile", "max_over_time", "by", "and", "up"])
const metricsIn = (expression: string): ReadonlyArray<string> => {
  const withoutLabels = expression
    .replaceAll(/\{[^}]*\}/g, "")
    .replaceAll(/\bby \([^)]*\)/g, "")
    .replaceAll(/\[\w+\]/g, "")
  return (withoutLabels.match(/[a-z_]\w*/gi) ?? []).filter((name) => !words.has(name))
}

t.test("given alerts and a dashboard, when their expressions are read, then each metric is one that the engine offers", async (t) => {
  const types = await families()
  const expressions = [...alerts.map(({ expr }) => expr), ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))]
  t.ok(expressions.length > 40)
  for (const expression of expressions) {
    for (const name of metricsIn(expression)) {
      const isPart = types.get(name.replace(/_(bucket|sum|count)$/, "")) === "histogram"
      t.ok(types.has(name) || isPart, `${name} in ${expression}`)
      const isCounted = isPart || types.get(name) === "counter"
      const grows = new RegExp(String.raw`(rate|increase)\(${name}[{[]`).test(expression)
      t.equal(grows, isCounted, `${name} is read by its growth if it is a counter, and only then`)
    }
  }
  t.strictSame(metricsIn('sum by (x) (rate(a_total{b="c"}[5m])) > 0.1'), ["a_total"])
})

t.test("given alerts, then each says what has happened, and is there once", async (t) => {
  t.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length)
  for (const { alert, annotations, labels } of alerts) {
    t.match(labels.severity, /^(critical|warning)$/, alert)
    t.ok(annotations.summary.length > 10, alert)
  }
})

t.test("given a dashboard, then no panel covers another", async (t) => {
  const cells = panels.flatMap(({ gridPos: { h, w, x, y }, title }) =>
    Array.from({ length: w * h }, (_, at) => [`${x + (at % w)},${y + Math.floor(at / w)}`, title] as const)
  )
  t.equal(new Set(cells.map(([cell]) => cell)).size, cells.length)
  t.ok(panels.every(({ gridPos: { w, x } }) => x + w <= 24))
})

const known = new Set([...variables.map(({ name }) => name), "NODE_ENV"])
const unknownOf = (names: ReadonlyArray<string>) => names.filter((name) => !known.has(name))
/** The names in `A=1 B=2`, which follows the beginning of a line. */
const namesAfter = (text: string, beginning: RegExp): ReadonlyArray<string> => {
  const [, pairs = ""] = new RegExp(`^${beginning.source}(.+)$`, "m").exec(text) ?? []
  return pairs.split(" ").map((pair) => pair.split("=")[0] ?? "")
}
const drain = Number(variables.find(({ name }) => name === "DRAIN")?.default)

t.test("given the compose file, then it sets what the engine reads, and leaves calls the time to end", async (t) => {
  const { networks, services } = parseYaml(read("deploy/compose.yaml"))
  const { engine, engine2, postgres, prometheus, grafana, redis } = services
  t.strictSame(unknownOf([...Object.keys(engine.environment), ...Object.keys(engine2.environment)]), [])
  for (const name of ["DATABASE_URL", "DRAIN", "PUBLIC_URL", "REDIS_URL", "SECRETS_KEY"])
    t.equal(engine2.environment[name], engine.environment[name], `${name} of the second engine is that of the first`)
  t.not(engine2.environment.NODE_NAME, engine.environment.NODE_NAME)
  t.equal(engine2.environment.NODE_ADDRESS, engine2.networks.default.ipv4_address)
  t.strictSame([engine.volumes, engine2.volumes], [["data:/data"], ["data2:/data", "data:/engine"]], "they share files, but no journal")
  t.equal(engine2.environment.FILES_DIR, "/engine/files")
  t.ok(Number.parseInt(engine.stop_grace_period, 10) > drain)
  t.ok(existsSync(new URL(engine.build.dockerfile, root)))
  t.strictSame(engine.depends_on, { postgres: { condition: "service_healthy" } })
  t.strictSame(redis.profiles, engine2.profiles)
  t.match(postgres.healthcheck.test[1], /^pg_isready /)
  // As the embedded one: an error is not logged, and what is logged quotes neither a statement nor a row.
  for (const setting of ["log_min_messages=log", "log_min_error_statement=panic", "log_error_verbosity=terse"])
    t.ok(postgres.command.includes(setting), setting)
  const published = [engine, engine2, postgres, prometheus, grafana, redis].flatMap(({ ports = [] }) => ports)
  t.ok(published.length > 0 && published.every((port: string) => port.startsWith("127.0.0.1:")), "no port is open to other machines")
  for (const { volumes } of [prometheus, grafana])
    for (const volume of volumes.filter((one: string) => one.startsWith("./")))
      t.ok(existsSync(new URL(`deploy/${volume.split(":")[0]}`, root)), volume)
  const [{ targets }] = parseYaml(read("deploy/monitoring/prometheus.yaml")).scrape_configs[0].static_configs
  const address = engine.networks.default.ipv4_address
  t.strictSame(targets, [`${address}:8000`])
  t.ok(networks.default.ipam.config[0].subnet.startsWith(address.split(".").slice(0, 3).join(".")))
})

t.test("given the Dockerfile, then it copies what is there, for a Node that the engine runs on", async (t) => {
  const text = read("deploy/Dockerfile")
  const sources = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = ""]) => paths.split(" "))
  t.ok(sources.length > 6)
  for (const source of sources) t.ok(existsSync(new URL(source, root)), source)
  const kept = read("deploy/Dockerfile.dockerignore")
  const unlisted = sources.filter((source) => !kept.includes(`!${source}\n`))
  t.strictSame(unlisted, [], "and none of it is left out of the build")
  const { engines } = JSON.parse(read("package.json"))
  for (const [, major] of text.matchAll(/^FROM node:(\d+)/gm)) t.ok(engines.node.includes(`>=${major}.`), `Node ${major}`)
  t.strictSame(unknownOf(namesAfter(text, /ENV /)), [])
})

t.test("given the systemd unit, then it sets what the engine reads, and leaves calls the time to end", async (t) => {
  const unit = read("deploy/trunkline.service")
  t.strictSame(unknownOf(namesAfter(unit, /Environment=/)), [])
  t.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) > drain)
  t.match(unit, /^ExecStart=.* runtime\/start\.js$/m)
})

t.test("given the Kubernetes manifests, then they fit each other, the image and the engine", async (t) => {
  const manifests = parseAllDocuments(read("deploy/kubernetes.yaml")).map((document) => document.toJS())
  const of = (kind: string, name = "trunkline") => manifests.find((one) => one.kind === kind && one.metadata.name === name)
  t.equal(new Set(manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).size, manifests.length)
  const [settings, engines, service] = [of("ConfigMap"), of("StatefulSet"), of("Service")]
  const { spec: pod } = engines.spec.template
  const [engine] = pod.containers
  const set = [...Object.keys(settings.data), ...engine.env.map(({ name }: { name: string }) => name)]
  t.strictSame(unknownOf(set), [])
  t.match(
    read("deploy/kubernetes.yaml"),
    /--from-literal=DATABASE_URL=.+ --from-literal=SECRETS_KEY=/,
    "what it does not set is in the secret"
  )
  t.ok(pod.terminationGracePeriodSeconds > Number(settings.data.DRAIN) + 10, "calls get their time to end")

  const labels = engines.spec.template.metadata.labels
  const selectors = [
    engines.spec.selector.matchLabels,
    service.spec.selector,
    of("Service", engines.spec.serviceName).spec.selector,
    of("PodDisruptionBudget").spec.selector.matchLabels
  ]
  for (const selector of selectors) t.strictSame(selector, labels)
  const { hostname } = new URL(settings.data.REDIS_URL)
  const [redisService, redis] = [of("Service", hostname), of("Deployment", hostname)]
  t.strictSame([redisService.spec.selector, redis.spec.selector.matchLabels], Array(2).fill(redis.spec.template.metadata.labels))
  t.equal(redisService.spec.ports[0].targetPort, redis.spec.template.spec.containers[0].ports[0].name)
  t.ok(engines.spec.replicas > 1)
  t.match(engine.env, [{ name: "NODE_NAME" }, { name: "NODE_ADDRESS" }], "each has its own name and address")
  const [{ containerPort, name: port }] = engine.ports
  t.strictSame([service.spec.ports[0].targetPort, engine.readinessProbe.httpGet.port], [port, port])
  t.equal(String(containerPort), settings.data.PORT)
  t.equal(engine.readinessProbe.httpGet.path, "/api/v1/health/ready")

  const mounted = engine.volumeMounts.map(({ name }: { name: string }) => name)
  const volumes = [...pod.volumes, ...engines.spec.volumeClaimTemplates.map(({ metadata }: { metadata: object }) => metadata)]
  t.strictSame(mounted.toSorted(), volumes.map(({ name }: { name: string }) => name).toSorted())
  t.ok(of("PersistentVolumeClaim", pod.volumes[0].persistentVolumeClaim.claimName))
  const paths = engine.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
  t.ok(paths.includes(settings.data.FILES_DIR), "the files are on a volume")
  const image = read("deploy/Dockerfile")
  t.ok(paths.includes(/DATA_DIR=(\S+)/.exec(image)?.[1]), "the journal as well")
  t.equal(String(pod.securityContext.runAsUser), /--uid (\d+)/.exec(image)?.[1])
  t.equal(engine.image, `trunkline:${JSON.parse(read("package.json")).version}`)
})
