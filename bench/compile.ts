import { brokerOf, checkSystem, parseTarget, plan } from "../src/index.ts";
import { verifyAll } from "../src/verify/verify.ts";

// Measures one size on one target and prints JSON. main.ts starts it in its own process.
const [size = "1", text = "rabbitmq@4.3"] = process.argv.slice(2);
const consumers = Number(size);
const input = {
  name: "bench",
  sources: { orders: { kind: "topic" } },
  consumers: Object.fromEntries(
    Array.from({ length: consumers }, (_, index) => [
      `consumer-${index}`,
      {
        from: { orders: [`order.kind-${index}`] },
        retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2, max: "10s" } },
        // On SQS a crash counts like any other receive, so crashes have no budget. The visibility timeout needs the
        // handler's time.
        ...(text.startsWith("sqs") ? { handlerTimeout: "30s" } : { crash: { deliveries: 3 } }),
      },
    ]),
  ),
};
const checked = checkSystem(input);
if (!checked.ok) throw new Error("the declaration of the benchmark is refused");
const target = parseTarget(text);
if (!target.ok) throw new Error("the target of the benchmark is refused");
const broker = brokerOf(target.value);
const startedAt = performance.now();
const compiled = broker.compile(plan(checked.value), target.value);
const durationMs = performance.now() - startedAt;
if (!compiled.ok) throw new Error("the benchmark does not compile");
// `compile` also proves its output: once for all consumers that differ in names alone.
const verdicts = verifyAll(broker.subjectsOf(compiled.value, target.value));
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
