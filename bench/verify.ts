import { brokers, checkSystem, compile, parseTarget } from "../src/index.ts";
import { verify } from "../src/verify/verify.ts";

// Proves every consumer of one size; prints JSON. Started by main.ts in a process of its own.
const consumers = Number(process.argv[2]);
const checked = checkSystem({
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
});
const target = parseTarget("rabbitmq@4.3");
if (!checked.ok || !target.ok) throw new Error("the declaration of the benchmark is refused");
const compiled = compile(checked.value, target.value);
if (!compiled.ok) throw new Error("the benchmark does not compile");
const startedAt = performance.now();
let states = 0;
for (const model of brokers.rabbitmq.modelsOf(compiled.value, target.value)) {
  const verdict = verify(model);
  if (verdict.violations.length > 0) throw new Error(verdict.violations[0]?.message);
  states += verdict.states;
}
const durationMs = performance.now() - startedAt;
console.log(JSON.stringify({ consumers, durationMs, peakMb: process.resourceUsage().maxRSS / 1024, states }));
