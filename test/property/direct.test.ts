import fc from "fast-check";
import { expect, test } from "vitest";

import { checkSystem, compile, type CompiledSystem, type TargetInput } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { forAll } from "../support/for-all.ts";
import { anyServicebusDeclaration, anyServicebusTarget } from "../support/servicebus-declarations.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";

// The same system is compiled twice: as it is, and with producers that send straight to every work queue. Only the way
// in differs.

/** Compiles both. Null if the first one is refused. */
function both(input: unknown, target: TargetInput): readonly [CompiledSystem, CompiledSystem] | null {
  const checked = checkSystem(input);
  if (!checked.ok) return null;
  const compiled = compile(checked.value, target);
  if (!compiled.ok) return null;
  const { name, consumers } = checked.value;
  const direct = Object.entries(consumers).map(([key, consumer]) => [key, { ...consumer, from: undefined }]);
  const again = checkSystem({ name, consumers: Object.fromEntries(direct) });
  expect(again.ok).toBe(true);
  if (!again.ok) return null;
  const other = compile(again.value, target);
  expect(other.ok ? [] : other.diagnostics).toEqual([]);
  return other.ok ? [compiled.value, other.value] : null;
}

function without(compiled: CompiledSystem, topology: object, ...ofPromises: readonly RegExp[]): unknown {
  const { contracts, promises } = compiled;
  const plain = ofPromises.reduce((text, each) => text.replaceAll(each, ""), JSON.stringify(promises));
  return JSON.parse(
    JSON.stringify({
      ...compiled,
      topology,
      promises: JSON.parse(plain) as unknown,
      contracts: contracts.map((contract) => ({ ...contract, sources: undefined })),
    }),
  );
}

interface Case {
  readonly name: string;
  readonly system: fc.Arbitrary<unknown>;
  readonly target: fc.Arbitrary<TargetInput>;
  readonly withoutWayIn: (compiled: CompiledSystem) => unknown;
}

const rabbitmq: Case = {
  name: "RabbitMQ",
  system: anySystem,
  target: anyTarget,
  withoutWayIn: (given) => {
    const compiled = given as CompiledSystem<"rabbitmq">;
    const { topology } = compiled;
    const sources = new Set(topology.exchanges.filter(({ role }) => role === "source").map(({ name }) => name));
    return without(compiled, {
      ...topology,
      exchanges: topology.exchanges.filter(({ role }) => role !== "source"),
      bindings: topology.bindings.filter(({ source }) => !sources.has(source)),
    });
  },
};

const sqs: Case = {
  name: "Amazon SQS",
  system: anySqsDeclaration,
  target: anySqsTarget,
  withoutWayIn: (given) => {
    const compiled = given as CompiledSystem<"sqs">;
    const { topology } = compiled;
    const queues = topology.queues
      .filter(({ role }) => role !== "undelivered")
      .map((queue) => ({ ...queue, sendersTopics: [], sendersServices: undefined }));
    const topics = /\. Publishers give it at most [^"]*|, or in [^"]*-undelivered(\.fifo)?/g;
    return without(compiled, { ...topology, queues, topics: [], subscriptions: [] }, topics);
  },
};

const servicebus: Case = {
  name: "Service Bus",
  // With order a consumer of a source receives from its subscription, and not from a queue.
  system: anyServicebusDeclaration.filter(({ consumers }) => !JSON.stringify(consumers).includes("per-key")),
  target: anyServicebusTarget,
  withoutWayIn: (given) => {
    const compiled = given as CompiledSystem<"servicebus">;
    const { topology } = compiled;
    const queues = new Set(topology.queues.map(({ name }) => name));
    const alerts = topology.alerts.filter(({ entity }) => queues.has(entity));
    return without(compiled, { ...topology, topics: [], subscriptions: [], alerts }, /, past the topic/g);
  },
};

test.for([rabbitmq, sqs, servicebus])(
  "without sources a system compiles to the same, but for the way in: $name",
  ({ system, target, withoutWayIn }) => {
    let compared = 0;
    forAll(300, [system, target], (input, chosen) => {
      const pair = both(input, chosen);
      if (pair === null) return;
      const [sourced, direct] = pair;
      expect(withoutWayIn(direct)).toEqual(withoutWayIn(sourced));
      compared += 1;
    });
    expect(compared).toBeGreaterThan(10);
  },
);
