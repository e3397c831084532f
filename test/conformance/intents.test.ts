import { expect, test } from "vitest";
import { stringify } from "yaml";

import { checkSystem, compile, type CompiledSystem, renderDiagnostics, type TargetInput } from "../../src/index.ts";
import { gaps, seriesIn, width } from "../support/golden.ts";

// One intent and each broker's exact output, side by side in one file. NOT_SUPPORTED marks a promise that a broker
// cannot keep, with the reason. A block of diff has the lines in which the output differs from that of the intent in its
// title, which it resembles most of those before it. Review every change of these files.

const targets: readonly TargetInput[] = [
  { broker: "rabbitmq", version: "4.3" },
  { broker: "sqs", region: "eu-west-1" },
  { broker: "servicebus", sku: "standard" },
];

const retry = { attempts: 3, backoff: { kind: "constant", delay: "30s" } };
const billing = { from: { orders: ["order.placed"] }, retry, handlerTimeout: "10s" };

const intents: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  "the same delay before every attempt": { billing },
  "a retry at once": { billing: { ...billing, retry: { attempts: 3, backoff: { kind: "immediate" } } } },
  "a delay that grows": {
    billing: { ...billing, retry: { attempts: 4, backoff: { kind: "exponential", first: "1s", factor: 3 } } },
  },
  "a delay with jitter": {
    billing: { ...billing, retry: { attempts: 3, backoff: { kind: "constant", delay: "30s", jitter: "20%" } } },
  },
  "a delay below a second": {
    billing: { ...billing, retry: { attempts: 3, backoff: { kind: "constant", delay: "500ms" } } },
  },
  "a delay of a day": { billing: { ...billing, retry: { attempts: 3, backoff: { kind: "constant", delay: "1d" } } } },
  "a delay that the handler asks for": { billing: { ...billing, retry: { ...retry, retryAfter: { max: "2m" } } } },
  "a crash budget of its own": { billing: { ...billing, crash: { deliveries: 2 } } },
  "messages of one key in order": { billing: { ...billing, order: "per-key" } },
  "messages of one key in order and retried at once": {
    billing: { ...billing, retry: { attempts: 3, backoff: { kind: "immediate" } }, order: "per-key" },
  },
  "every instance gets every message": { cache: { from: { orders: "all" }, delivery: "every-instance" } },
  "a pattern for the rest of the key": { billing: { ...billing, from: { orders: ["order.#"] } } },
  "a pattern for one word": { billing: { ...billing, from: { orders: ["order.*"] } } },
  "dead letters that are kept and watched": {
    billing: { ...billing, deadLetter: { retain: "7d", alarmAbove: 5 }, errors: { permanent: ["ValidationError"] } },
  },
  "dead letters that people park": { billing: { ...billing, deadLetter: { park: true, generations: 2 } } },
  "two consumers of one source": { billing, shipping: { ...billing, from: { orders: "all" } } },
};

test.for(Object.keys(intents))("%s", async (intent) => {
  const sections = targets.map((target) => sectionOf(intent, target));
  const consumers = stringify(intents[intent]).trimEnd().split("\n");
  const text = [`# ${intent}`, fenced("yaml", consumers), ...sections, ""].join("\n\n");
  await expect(text).toMatchFileSnapshot(`intents/${intent.replaceAll(" ", "-")}.md`);
});

function sectionOf(intent: string, target: TargetInput): string {
  const names = Object.keys(intents);
  const lines = outputOf(intent, target);
  const others = names.slice(0, names.indexOf(intent)).map((name) => {
    return { name, difference: differingLines(outputOf(name, target), lines) };
  });
  const [nearest] = others.toSorted((one, other) => one.difference.length - other.difference.length);
  if (nearest === undefined || nearest.difference.length >= lines.length)
    return `## ${target.broker}\n${fenced("", lines)}`;
  return `## ${target.broker}, like ${nearest.name}\n${fenced("diff", nearest.difference)}`;
}

function outputOf(intent: string, target: TargetInput): readonly string[] {
  const system = checkSystem({ name: "shop", sources: { orders: { kind: "topic" } }, consumers: intents[intent] });
  if (!system.ok) throw new Error(renderDiagnostics(system.diagnostics));
  const compiled = compile(system.value, target);
  if (!compiled.ok) return ["NOT_SUPPORTED", ...renderDiagnostics(compiled.diagnostics).split("\n")];
  const warnings = compiled.warnings.map(({ code, message }) => `${code} ${message}`);
  return [...linesOf(compiled.value), ...warnings];
}

/** The lines that only one of them has, each run behind the number of its first line in the output before. */
function differingLines(before: readonly string[], after: readonly string[]): readonly string[] {
  return gaps(before, after).flatMap((gap) => [
    `@@ ${gap.at + 1} @@`,
    ...gap.before.map((line) => `- ${line.length <= width ? line : `${line.slice(0, width)} …`}`),
    ...gap.after.map((line) => `+ ${line}`),
  ]);
}

function fenced(language: string, lines: readonly string[]): string {
  return ["```" + language, ...lines, "```"].join("\n");
}

/** One line for each resource, each outcome of each consumer, and each keeper with the promises that it keeps. */
function linesOf({ topology, contracts, promises, choices }: CompiledSystem): string[] {
  const resources = Object.entries(topology).flatMap(([kind, list]) =>
    Array.isArray(list) ? seriesIn(list).map((each) => `${kind} ${JSON.stringify(each)}`) : [],
  );
  const outcomes = contracts.flatMap((contract) =>
    Object.entries(contract.outcomes).map(
      ([outcome, each]) => `${contract.consumer} ${outcome} ${JSON.stringify(each)}`,
    ),
  );
  return [
    ...choices.map(({ consumer, strategy }) => `${consumer} strategy ${strategy}`),
    ...resources,
    ...contracts.map(({ consumer, attempts }) => `${consumer} attempts ${JSON.stringify(attempts)}`),
    ...outcomes,
    ...keepersOf(promises).map(([keeper, kept]) => `${keeper}: ${kept.join(", ")}`),
  ];
}

function keepersOf(promises: CompiledSystem["promises"]): readonly (readonly [string, readonly string[]])[] {
  const kept = Map.groupBy(promises, ({ consumer, keeper }) => `${consumer} kept by ${keeper}`);
  return [...kept].map(([keeper, each]) => [keeper, each.map(({ promise }) => promise)] as const);
}
