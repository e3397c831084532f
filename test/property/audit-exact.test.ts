import fc from "fast-check";
import { expect, test } from "vitest";

import { auditDeployment } from "../../src/brokers/rabbitmq/foreign/audit.ts";
import type { BrokerTopology, SemanticsVersion } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { semanticsVersionOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { parseTarget } from "../../src/index.ts";
import { whatCanHappen } from "../support/audit-oracle.ts";
import { accepted } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

// The audit must report exactly the losses that messages of a topology can suffer: no more and no less.

const queueNames = ["a", "b", "c", "d"] as const;
const exchangeNames = ["x", "y", "z"] as const;
const versions = ["3.10.8", "3.12.14", "3.13.2", "3.13.7", "4.0.5", "4.2.5", "4.3.6"] as const;

function maybe<Value>(value: fc.Arbitrary<Value>, nothing = 1): fc.Arbitrary<Value | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: nothing }, { arbitrary: value, weight: 1 });
}

function present(given: Readonly<Record<string, unknown>>): BrokerTopology["queues"][number]["arguments"] {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof present
  >;
}

const key = fc.constantFrom(...queueNames, "k");
const deadLetterTo = fc.oneof(
  { arbitrary: fc.record({ exchange: fc.constant(""), key: fc.constantFrom(...queueNames) }), weight: 3 },
  { arbitrary: fc.record({ exchange: fc.constantFrom(...exchangeNames, "missing"), key: maybe(key, 2) }), weight: 3 },
  { arbitrary: fc.constant({ exchange: undefined, key: undefined }), weight: 2 },
);

const anyQueue = (name: string): fc.Arbitrary<BrokerTopology["queues"][number]> =>
  fc
    .record({
      isQuorum: fc.boolean(),
      to: deadLetterTo,
      ttl: maybe(fc.constant(1_000), 2),
      limit: fc.constantFrom(0, 1, 2, -1),
      isSafe: fc.boolean(),
      length: maybe(fc.constant(10), 4),
      overflow: maybe(fc.constantFrom("reject-publish", "drop-head"), 1),
    })
    .map(({ isQuorum, to, ttl, limit, isSafe, length, overflow }) => ({
      name,
      kind: isQuorum ? "quorum" : "classic",
      arguments: present({
        "x-dead-letter-exchange": to.exchange,
        "x-dead-letter-routing-key": to.key,
        "x-message-ttl": ttl,
        "x-delivery-limit": isQuorum ? limit : undefined,
        "x-dead-letter-strategy": isQuorum && isSafe ? "at-least-once" : undefined,
        "x-max-length": length,
        "x-overflow": isQuorum && isSafe ? "reject-publish" : overflow,
      }),
    }));

const reason = fc.constantFrom("rejected", "expired", "delivery_limit", "maxlen");

const anyBinding = fc
  .record({
    source: fc.constantFrom(...exchangeNames),
    destination: fc.oneof(
      {
        arbitrary: fc.record({ name: fc.constantFrom<string>(...queueNames), kind: fc.constant("queue" as const) }),
        weight: 5,
      },
      {
        arbitrary: fc.record({
          name: fc.constantFrom<string>(...exchangeNames),
          kind: fc.constant("exchange" as const),
        }),
        weight: 1,
      },
    ),
    key,
    reason,
  })
  .map(({ source, destination, key: routingKey, reason: why }) => ({
    source,
    destination: destination.name,
    destinationKind: destination.kind,
    routingKey,
    arguments: { "x-match": "all-with-x", "x-first-death-reason": why },
  }));

const anyPolicy = fc
  .record({
    pattern: fc.constantFrom("", "^a$", "^[ab]$", "^[bcd]$"),
    priority: fc.constantFrom(0, 0, 1),
    to: deadLetterTo,
    ttl: maybe(fc.constant(500), 2),
    limit: maybe(fc.constantFrom(0, 1), 2),
  })
  .map(({ pattern, priority, to, ttl, limit }) => ({
    kind: "user" as const,
    pattern,
    applyTo: "queues" as const,
    priority,
    definition: present({
      "dead-letter-exchange": to.exchange,
      "dead-letter-routing-key": to.key,
      "message-ttl": ttl,
      "delivery-limit": limit,
    }),
  }));

const anyTopology: fc.Arbitrary<BrokerTopology> = fc
  .record({
    queues: fc.tuple(...queueNames.map(anyQueue)).chain((all) => fc.subarray(all, { minLength: 2 })),
    kinds: fc.tuple(...exchangeNames.map(() => fc.constantFrom("direct", "fanout", "headers"))),
    bindings: fc.array(anyBinding, { maxLength: 6 }),
    policies: fc.array(anyPolicy, { maxLength: 3 }),
  })
  .map(({ queues, kinds, bindings, policies }) => {
    const names = new Set(queues.map(({ name }) => name));
    return {
      exchanges: exchangeNames.map((name, index) => ({ name, kind: kinds[index] ?? "direct", arguments: {} })),
      queues,
      bindings: bindings.filter(
        ({ destination, destinationKind }) => destinationKind === "exchange" || names.has(destination),
      ),
      policies: policies.map((each, index) => ({ ...each, name: `p${index}` })),
    };
  });

/** The findings about a message's fate, each as code and queue. */
function findingsOf(topology: BrokerTopology, written: string): { losses: Set<string>; codes: Set<string> } {
  const target = accepted(parseTarget(`rabbitmq@${written}`));
  const deployment = { brokerVersion: null, virtualHosts: [{ name: "/", topology }] };
  const found = auditDeployment(deployment, target, null);
  const told = new Set(["RD411", "RD412", "RD413", "RD420", "RD431", "RD436"]);
  return {
    codes: new Set(found.map(({ code }) => code)),
    losses: new Set(
      found
        .filter(({ code }) => told.has(code))
        .flatMap(({ code, value, path }) =>
          (Array.isArray(value) ? value : [path.at(-1)]).map((queue) => `${code} ${queue}`),
        ),
    ),
  };
}

function versionOf(written: string): SemanticsVersion {
  const target = accepted(parseTarget(`rabbitmq@${written}`));
  return semanticsVersionOf(target);
}

test(
  "an audit reports exactly the losses that can happen, and a loop exactly where there is one",
  { timeout: 300_000 },
  () => {
    const seen = new Map<string, number>();
    forAll(1_000, [anyTopology, fc.constantFrom(...versions)], (topology, version) => {
      const expected = whatCanHappen(topology, versionOf(version));
      fc.pre(expected !== null);
      const { losses, codes } = findingsOf(topology, version);
      fc.pre(!codes.has("RD428"));
      expect([...losses].toSorted()).toEqual([...expected.losses].toSorted());
      expect(codes.has("RD414") || codes.has("RD416")).toBe(expected.hasLoop);
      for (const loss of expected.losses) seen.set(loss.slice(0, 5), (seen.get(loss.slice(0, 5)) ?? 0) + 1);
      if (expected.hasLoop) seen.set("loop", (seen.get("loop") ?? 0) + 1);
    });
    // Every kind of loss was among them.
    for (const code of ["RD411", "RD412", "RD413", "RD420", "RD431", "RD436", "loop"])
      expect(seen.get(code) ?? 0, code).toBeGreaterThan(0);
  },
);
