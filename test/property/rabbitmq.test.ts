import { expect, test } from "vitest";

import { route, type RoutingIndex, routingIndex } from "../../src/brokers/rabbitmq/prove/routing.ts";
import { alternatesByPolicy, brokerTopologyOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import type { CompiledSystem, Contract, Operation, SystemInput, TargetInput } from "../../src/index.ts";
import { brokers, compile } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { checked } from "../support/examples.ts";
import { expectDrawn, expectSameAgain } from "../support/compiled-properties.ts";
import { forAll } from "../support/for-all.ts";

type RabbitmqSystem = CompiledSystem<"rabbitmq">;

/** Runs a check on every declaration and target that compile. A refusal must give its reason. */
function forEveryCompiled(
  check: (compiled: RabbitmqSystem, input: SystemInput, target: TargetInput<"rabbitmq">) => void,
): void {
  let compiledCount = 0;
  forAll(350, [anySystem, anyTarget], (input, target) => {
    const result = compile(checked(input), target);
    if (!result.ok) {
      expect(result.diagnostics.every((each) => each.message !== "" && each.path !== "")).toBe(true);
      return;
    }
    compiledCount++;
    check(result.value, input, target);
  });
  expect(compiledCount).toBeGreaterThan(100);
}

test("the same input gives the same bytes, frozen", () => {
  forEveryCompiled((compiled, input, target) => {
    expectSameAgain(compiled, compile(checked(structuredClone(input)), { ...target }));
  });
});

test("names are unique, have at most 255 bytes, and survive the provider's ids", () => {
  forEveryCompiled(({ topology }) => {
    for (const resources of [topology.queues, topology.exchanges, topology.policies]) {
      const names = resources.map((each) => each.name);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) {
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(name).not.toMatch(/[/@]|^\d+$|^amq\./);
      }
    }
  });
});

test("Redeliver adds no blanks to names: they go into shells, URLs and patterns", () => {
  forEveryCompiled(({ topology }) => {
    for (const { name, role, consumer } of [...topology.queues, ...topology.exchanges])
      if (consumer === null && role !== "source") expect(name.slice(topology.system.length)).not.toMatch(/\s/);
  });
});

test("exactly one policy matches each queue: the queue's own", () => {
  forEveryCompiled(({ topology }) => {
    for (const queue of topology.queues) {
      const matching = topology.policies.filter(
        ({ applyTo, pattern }) => applyTo !== "exchanges" && new RegExp(pattern, "u").test(queue.name),
      );
      expect(matching.map((policy) => policy.name)).toEqual([queue.name]);
    }
  });
});

/** The settings of a queue by the names of arguments: those of its policy, and over them its arguments. */
function settingsOf({ policies, queues }: RabbitmqSystem["topology"], name: string | null) {
  const { definition = {} } = policies.find((each) => each.name === name && each.applyTo !== "exchanges") ?? {};
  const byPolicy = Object.entries(definition).map(([key, value]) => [`x-${key}`, value] as const);
  return { ...Object.fromEntries(byPolicy), ...queues.find((each) => each.name === name)?.arguments };
}

test("every resource that a binding or a dead-letter setting names exists", () => {
  forEveryCompiled(({ topology }) => {
    const exchanges = new Set(topology.exchanges.map((each) => each.name));
    const queues = new Set(topology.queues.map((each) => each.name));
    for (const binding of topology.bindings) {
      expect(exchanges).toContain(binding.source);
      expect(binding.destinationKind === "queue" ? queues : exchanges).toContain(binding.destination);
    }
    for (const exchange of topology.exchanges) {
      const alternate = exchange.arguments["alternate-exchange"];
      if (alternate !== undefined) expect(exchanges).toContain(alternate);
    }
    for (const queue of topology.queues) {
      const deadLetterExchange = settingsOf(topology, queue.name)["x-dead-letter-exchange"];
      if (deadLetterExchange !== undefined) expect(exchanges).toContain(deadLetterExchange);
    }
    for (const { applyTo, name, definition } of topology.policies) {
      if (applyTo !== "exchanges") continue;
      expect(exchanges).toContain(name);
      expect(exchanges).toContain(definition["alternate-exchange"]);
    }
  });
});

test("every queue is a quorum queue, refuses messages when it is full, and dead-letters at least once", () => {
  forEveryCompiled(({ topology }) => {
    for (const queue of topology.queues) {
      expect(queue).toMatchObject({ durable: true, autoDelete: false });
      const settings = settingsOf(topology, queue.name);
      expect(settings).toMatchObject({ "x-queue-type": "quorum", "x-overflow": "reject-publish" });
      expect(settings).not.toHaveProperty("x-expires");
      const hasDeadLetters = "x-dead-letter-exchange" in settings;
      expect(settings["x-dead-letter-strategy"]).toBe(hasDeadLetters ? "at-least-once" : undefined);
      expect(hasDeadLetters).toBe(queue.role !== "dead" && queue.role !== "undeliverable");
    }
  });
});

test("a death of any reason, on any attempt, has exactly one way on", () => {
  forEveryCompiled(({ topology, contracts }) => {
    const index = indexOf(topology);
    for (const contract of contracts) {
      const settings = settingsOf(topology, contract.workQueue);
      for (const { attempt } of contract.attempts) {
        for (const reason of ["rejected", "delivery_limit", "expired", "maxlen", "a reason of a later version"]) {
          const headers = { "x-last-death-reason": reason, "x-last-death-exchange": exchangeOf(contract, attempt) };
          const targets = route(index, String(settings["x-dead-letter-exchange"]), {
            routingKeys: [String(settings["x-dead-letter-routing-key"])],
            headers,
          });
          expect(targets, `${reason} on attempt ${attempt}`).toHaveLength(1);
          if (["delivery_limit", "expired", "maxlen"].includes(reason)) expect(targets).toEqual([contract.deadQueue]);
        }
      }
    }
  });
});

test("under the contract, an always failing message makes every attempt in order, waits as planned, and is dead", () => {
  forEveryCompiled((compiled) => {
    for (const contract of compiled.contracts) expect(follow(compiled, contract)).toEqual(expected(contract));
  });
});

/** The way of a message that always fails: its waits, then its end. */
function expected(contract: Contract): string[] {
  return [
    ...contract.attempts.slice(1).map((each) => `wait ${each.delayLatestMs ?? each.delayMs}`),
    `dead in ${contract.deadQueue}`,
  ];
}

/** Walks the topology as a broker would. It computes a queue's own delay from its policy, by the vendor's formula. */
function follow({ topology }: RabbitmqSystem, contract: Contract): string[] {
  const index = indexOf(topology);
  const policies = new Map(topology.policies.map((each) => [each.name, each.definition]));
  const queues = new Map(topology.queues.map((each) => [each.name, each]));
  const policy = policies.get(contract.workQueue ?? "") ?? {};
  const trace: string[] = [];
  let cameThrough = contract.sources[0]?.exchange ?? "";
  const settings = settingsOf(topology, contract.workQueue);
  for (let attempt = 1; attempt <= contract.attempts.length + 1; attempt++) {
    const outcome = contract.outcomes.transient;
    const operation = ("byAttempt" in outcome ? outcome.byAttempt[attempt - 1] : outcome)?.[0] as Operation;
    const stays =
      ("requeue" in operation && operation.requeue) ||
      (operation.operation === "modified" && !operation.undeliverableHere);
    if (stays && attempt <= Number(policy["delivery-limit"])) {
      trace.push(`wait ${delayInQueue(operation, policy, attempt)}`);
      continue;
    }
    const exchange =
      operation.operation === "basic.publish" ? operation.exchange : String(settings["x-dead-letter-exchange"]);
    const key =
      operation.operation === "basic.publish" ? operation.routingKey : String(settings["x-dead-letter-routing-key"]);
    const reason = stays ? "delivery_limit" : "rejected";
    const headers = { "x-last-death-reason": reason, "x-last-death-exchange": cameThrough };
    const [target] = route(index, exchange, { routingKeys: [key], headers }) ?? [];
    const queue = queues.get(target ?? "");
    if (queue === undefined || queue.role === "dead") return [...trace, `dead in ${target}`];
    trace.push(`wait ${policies.get(queue.name)?.["message-ttl"]}`);
    cameThrough = String(queue.arguments["x-dead-letter-exchange"]);
    const back = route(index, cameThrough, { routingKeys: [key], headers });
    if (back?.length !== 1 || back[0] !== contract.workQueue) return [...trace, `astray in ${back}`];
  }
  return [...trace, "no end"];
}

function delayInQueue(operation: Operation, policy: Readonly<Record<string, string | number>>, failures: number) {
  if (operation.operation === "modified")
    return operation.deliveryTimeMs === "asked" ? -1 : (operation.deliveryTimeMs?.to ?? 0);
  if (policy["delayed-retry-type"] === "disabled") return 0;
  return Math.min(Number(policy["delayed-retry-min"]) * failures, Number(policy["delayed-retry-max"]));
}

/** The exchange that a message came through on an attempt. */
function exchangeOf({ attemptNumber, sources }: Contract, attempt: number): string {
  return attempt > 1 && attemptNumber?.from === "exchange"
    ? `${attemptNumber.prefix}${attempt}`
    : (sources[0]?.exchange ?? "");
}

function indexOf(topology: RabbitmqSystem["topology"]): RoutingIndex {
  const { exchanges, policies } = brokerTopologyOf(topology);
  return routingIndex(topology, alternatesByPolicy(exchanges, policies));
}

test("every compiled system can be drawn, and every queue is in the picture", () => {
  forEveryCompiled((compiled) => {
    expectDrawn(brokers.rabbitmq.graphOf(compiled), compiled.topology.queues);
  });
});
