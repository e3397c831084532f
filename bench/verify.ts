import { brokerOf, checkSystem, compile, parseTarget } from "../src/index.ts";
import { verify, verifyAll } from "../src/verify/verify.ts";

// Proves consumers that differ only in names, once together like a compilation and once one by one. Or it prints the
// number of states for each strategy. It prints JSON, and main.ts starts it in its own process.
const [what = "all", size = "1", broker = "rabbitmq@4.3"] = process.argv.slice(2);
const usual = { sqs: "visibility", servicebus: "scheduled" }[broker.split("@")[0] ?? ""] ?? "staged";

function subjects(
  consumers: number,
  strategy: string,
  attempts = 5,
): ReturnType<ReturnType<typeof brokerOf>["subjectsOf"]> {
  const checked = checkSystem({
    name: "bench",
    sources: { orders: { kind: "topic" } },
    consumers: Object.fromEntries(
      Array.from({ length: consumers }, (_, index) => [
        `consumer-${index}`,
        {
          from: { orders: [`order.kind-${index}`] },
          protocol: strategy === "deferred" ? "amqp-1.0" : "amqp-0-9-1",
          retry: {
            attempts,
            backoff:
              strategy === "native"
                ? { kind: "constant", delay: "1s" }
                : { kind: "exponential", first: "1s", factor: 2, max: "10s" },
          },
        },
      ]),
    ),
  });
  const target = parseTarget(broker, strategy);
  if (!checked.ok || !target.ok) throw new Error("the declaration of the benchmark is refused");
  const compiled = compile(checked.value, target.value);
  if (!compiled.ok) throw new Error("the benchmark does not compile");
  return brokerOf(target.value).subjectsOf(compiled.value, target.value);
}

if (what === "states") {
  const states = ["native", "deferred", "staged", "waits"].map((strategy) => {
    const [subject] = subjects(1, strategy);
    return [strategy, subject === undefined ? 0 : verify(subject.model()).states];
  });
  console.log(JSON.stringify(Object.fromEntries(states)));
} else if (what === "attempts") {
  const timed = (attempts: number): { attempts: number; states: number; durationMs: number } => {
    const [subject] = subjects(1, usual === "staged" ? "waits" : usual, attempts);
    if (subject === undefined) throw new Error("there is one consumer");
    const model = subject.model();
    const startedAt = performance.now();
    const { states } = verify(model);
    return { attempts, states, durationMs: performance.now() - startedAt };
  };
  // A small size first, so that the figure does not include a cold start.
  timed(50);
  console.log(JSON.stringify([100, 1_000].map(timed)));
} else {
  const consumers = Number(size);
  const all = subjects(consumers, usual);
  // A small size first, so that the figure does not include a cold start.
  for (const { model } of subjects(20, usual)) verify(model());
  const startedAt = performance.now();
  const verdicts = what === "each" ? all.map(({ model }) => verify(model())) : verifyAll(all);
  const durationMs = performance.now() - startedAt;
  if (verdicts.some(({ violations }) => violations.length > 0)) throw new Error("the benchmark is refuted");
  console.log(JSON.stringify({ consumers, durationMs, peakMb: process.resourceUsage().maxRSS / 1024 }));
}
