import { brokers, checkSystem, compile, parseTarget } from "../src/index.ts";
import { checkScenario } from "../src/simulate/check-scenario.ts";
import { simulate } from "../src/simulate/simulate.ts";

// Simulates three consumers, one for each strategy on RabbitMQ 4.3, and prints JSON for each size. main.ts starts it in
// its own process. The time covers the whole call: exploring, playing, and the second run that finds the timeline.
const crash = { deliveries: 3 };
const from = { orders: "all" };
const checked = checkSystem({
  name: "bench",
  sources: { orders: { kind: "topic" } },
  consumers: {
    staged: {
      from,
      crash,
      retry: { attempts: 5, backoff: { kind: "exponential", first: "1s", factor: 2, max: "10s" } },
    },
    native: { from, retry: { attempts: 4, backoff: { kind: "linear", first: "10s", max: "1m" } } },
    waits: {
      from,
      crash,
      retry: { attempts: 5, backoff: { kind: "exponential", first: "30s", factor: 3, max: "20m", jitter: "20%" } },
    },
  },
});
const target = parseTarget("rabbitmq@4.3");
if (!checked.ok || !target.ok) throw new Error("the declaration of the benchmark is refused");
const compiled = compile(checked.value, target.value);
if (!compiled.ok) throw new Error("the benchmark does not compile");
const subjects = brokers.rabbitmq.subjectsOf(compiled.value, target.value);
const simulated = subjects.map(({ consumer }) => ({ consumer, hasRetryAfter: false }));
for (const duration of ["30m", "5h"]) {
  const scenario = checkScenario(
    {
      duration,
      everyConsumer: { arrivals: { perSecond: 20 }, instances: 2 },
      events: [{ kind: "outage", from: "5m", to: "15m" }],
    },
    simulated,
  );
  if (!scenario.ok) throw new Error("the scenario of the benchmark is refused");
  const startedAt = performance.now();
  const { consumers, events } = simulate(subjects, scenario.value);
  const durationMs = performance.now() - startedAt;
  const messages = consumers.reduce((sum, { published }) => sum + published, 0);
  const eventsPerSecond = Math.round((events / durationMs) * 1_000);
  console.log(
    JSON.stringify({ messages, events, durationMs, eventsPerSecond, peakMb: process.resourceUsage().maxRSS / 1024 }),
  );
}
