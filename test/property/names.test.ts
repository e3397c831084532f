import fc from "fast-check";
import { expect, test } from "vitest";

import { checkSystem, compile, type TargetInput } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { forAll } from "../support/for-all.ts";
import { anyServicebusDeclaration, anyServicebusTarget } from "../support/servicebus-declarations.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";

interface Case {
  readonly name: string;
  readonly separator: string;
  readonly system: fc.Arbitrary<unknown>;
  readonly target: fc.Arbitrary<TargetInput>;
}

const cases: readonly Case[] = [
  { name: "RabbitMQ", separator: ".", system: anySystem, target: anyTarget },
  { name: "Amazon SQS", separator: "-", system: anySqsDeclaration, target: anySqsTarget },
  {
    name: "Service Bus",
    separator: ".",
    // With order a consumer of a source has no queue that could have a name.
    system: anyServicebusDeclaration.filter(({ consumers }) => !JSON.stringify(consumers).includes("per-key")),
    target: anyServicebusTarget,
  },
];

test.for(cases)(
  "with names of their own for queues and sources a system compiles to the same: $name",
  ({ separator, system, target }) => {
    let compared = 0;
    forAll(300, [system, target], (input, chosen) => {
      const checked = checkSystem(input);
      if (!checked.ok) return;
      const { name, sources, consumers } = checked.value;
      const plain = compile(checked.value, chosen);
      const keys = Object.keys(consumers);
      const renamed = checkSystem({
        name,
        names: { source: "events-of-{source}" },
        sources,
        consumers: Object.fromEntries(keys.map((key, index) => [key, { ...consumers[key], queue: `own-${index}q` }])),
      });
      expect(renamed.ok).toBe(true);
      if (!renamed.ok || !plain.ok) return;
      const other = compile(renamed.value, chosen);
      expect(other.ok ? [] : other.diagnostics).toEqual([]);
      if (!other.ok) return;
      let text = JSON.stringify(other.value);
      const replace = (from: string, to: string): void => {
        text = text.replaceAll(JSON.stringify(from).slice(1, -1), () => JSON.stringify(to).slice(1, -1));
      };
      // The pattern of a policy escapes some characters of a name.
      const escaped = (each: string): string => each.replaceAll(/[\\^$.*+?()[\]{}|#]/g, String.raw`\$&`);
      const both = (from: string, to: string): void => {
        replace(`^${from}`, `^${escaped(to)}`);
        replace(from, to);
      };
      for (const [index, key] of keys.entries()) both(`own-${index}q`, `${name}${separator}${key}`);
      for (const source of Object.keys(sources)) both(`events-of-${source}`, `${name}${separator}${source}`);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(plain.value)));
      compared += 1;
    });
    expect(compared).toBeGreaterThan(10);
  },
);
