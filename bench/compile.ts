import { brokers, checkSystem, parseTarget, plan } from "../src/index.ts";
import { verifyAll } from "../src/verify/verify.ts";

// Measures one size; prints JSON. Started by main.ts in a process of its own.
const consumers = Number(process.argv[2]);
const input = {
  name: "bench",
  sources: { orders: { kind: "topic" } },
  consumers: Object.fromEntries(
    Array.from({ length: consumers }, (_, index) => [
      `consumer-${index}`,
      {
        from: { orders: [`order.kind-${index}`] },
        retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2, max: "10s" } },
        crash: { deliveries: 3 },
      },
    ]),
  ),
};
const checked = checkSystem(input);
if (!checked.ok) throw new Error("the declaration of the benchmark is refused");
const target = parseTarget("rabbitmq@4.3");
if (!target.ok) throw new Error("the target of the benchmark is refused");
const startedAt = performance.now();
const compiled = brokers.rabbitmq.compile(plan(checked.value), target.value);
const durationMs = performance.now() - startedAt;
if (!compiled.ok) throw new Error("the benchmark does not compile");
// What `compile` does besides: one proof for all that differ in names alone.
const verdicts = verifyAll(brokers.rabbitmq.subjectsOf(compiled.value, target.value));
if (verdicts.some(({ violations }) => violations.length > 0)) throw new Error("the benchmark is refuted");
const provedMs = performance.now() - startedAt;
console.log(
  JSON.stringify({
    consumers,
    durationMs,
    provedMs,
    peakMb: process.resourceUsage().maxRSS / 1024,
    queues: compiled.value.topology.queues.length,
  }),
);
