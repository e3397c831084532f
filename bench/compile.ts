import { checkSystem, compile } from "../src/index.ts";

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
const startedAt = performance.now();
const compiled = compile(checked.value, { broker: "rabbitmq", version: "4.3" });
const durationMs = performance.now() - startedAt;
if (!compiled.ok) throw new Error("the benchmark does not compile");
console.log(
  JSON.stringify({
    consumers,
    durationMs,
    peakMb: process.resourceUsage().maxRSS / 1024,
    queues: compiled.value.topology.queues.length,
  }),
);
