import { auditDeployment } from "../src/brokers/rabbitmq/foreign/audit.ts";
import { readDefinitions } from "../src/brokers/rabbitmq/foreign/read-definitions.ts";
import { parseTarget } from "../src/index.ts";

// Audits a definitions file of one size and prints JSON. main.ts starts it in its own process.
const queues = Number(process.argv[2]);

const queue = (name: string, given: object): object => ({
  name,
  vhost: "/",
  durable: true,
  auto_delete: false,
  arguments: given,
});
const exchange = (name: string, type: string): object => ({
  name,
  vhost: "/",
  type,
  durable: true,
  auto_delete: false,
  internal: false,
  arguments: {},
});
const binding = (source: string, destination: string, key: string): object => ({
  source,
  vhost: "/",
  destination,
  destination_type: "queue",
  routing_key: key,
  arguments: {},
});

// Each service has a work queue with a wait queue, and a queue with its dead queue. All share one topic exchange.
const services = Array.from({ length: Math.ceil(queues / 4) }, (_, index) => `service-${index}`);
const text = JSON.stringify({
  rabbitmq_version: "4.0.5",
  vhosts: [{ name: "/" }],
  exchanges: [exchange("events", "topic"), exchange("dead", "topic"), exchange("retry", "direct")],
  queues: services.flatMap((name, index) => [
    queue(name, { "x-queue-type": "quorum", "x-dead-letter-exchange": "retry", "x-dead-letter-routing-key": name }),
    queue(`${name}.wait`, {
      "x-queue-type": "quorum",
      "x-message-ttl": 1_000 + (index % 50),
      "x-dead-letter-exchange": "",
      "x-dead-letter-routing-key": name,
    }),
    queue(`${name}.log`, { "x-dead-letter-exchange": "dead" }),
    queue(`${name}.log.dead`, {}),
  ]),
  bindings: services.flatMap((name) => [
    binding("events", name, `${name}.*`),
    binding("retry", `${name}.wait`, name),
    binding("events", `${name}.log`, `${name}.#`),
    binding("dead", `${name}.log.dead`, `${name}.#`),
  ]),
});
const target = parseTarget("rabbitmq@4.0");
if (!target.ok) throw new Error("the target of the benchmark is refused");
const startedAt = performance.now();
const read = readDefinitions(text);
if (!read.ok) throw new Error("the file of the benchmark is refused");
const findings = auditDeployment(read.value, target.value, null).length;
console.log(
  JSON.stringify({
    queues,
    durationMs: performance.now() - startedAt,
    peakMb: process.resourceUsage().maxRSS / 1024,
    findings,
  }),
);
