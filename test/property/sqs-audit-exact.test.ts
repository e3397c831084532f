import fc from "fast-check";
import { expect, test } from "vitest";

import type { SqsQueue } from "../../src/brokers/sqs/compile/topology.ts";
import { type MessageState, semanticsOf } from "../../src/brokers/sqs/prove/semantics.ts";
import { forAll } from "../support/for-all.ts";
import { arnOf, findingsIn, queue, redriveTo } from "../support/sqs-listing.ts";

// For queues of SQS, the audit must report exactly the losses that the semantics allows: no more and no less.

const name: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", "d.fifo", "e.fifo");
const made = fc.record({
  name,
  target: fc.option(fc.oneof({ arbitrary: name, weight: 6 }, { arbitrary: fc.constant("nowhere"), weight: 1 }), {
    freq: 4,
  }),
  count: fc.integer({ min: 1, max: 3 }),
  visibility: fc.constantFrom(0, 30, 43_200),
  retention: fc.constantFrom(60, 100, 86_400, 1_209_600),
  delay: fc.constantFrom(0, 0, 60),
  allow: fc.constantFrom("allowAll", "allowAll", "allowAll", "denyAll"),
});
type Made = typeof made extends fc.Arbitrary<infer Value> ? Value : never;

function semanticQueue(
  { name: own, target, count, visibility, retention, delay, allow }: Made,
  all: readonly Made[],
): SqsQueue {
  return {
    name: own,
    role: "work",
    consumer: null,
    fifo: own.endsWith(".fifo"),
    visibilityTimeoutSeconds: visibility,
    retentionSeconds: retention,
    delaySeconds: delay,
    receiveWaitSeconds: 0,
    encryption: { kind: "sqs" },
    redrive: target === null ? null : { deadQueue: target, maxReceiveCount: count },
    redriveAllow:
      allow === "denyAll"
        ? { permission: "denyAll" }
        : { permission: "byQueue", sourceQueues: all.map((each) => each.name) },
    sendersTopics: [],
  };
}

const problemCodes: Readonly<Record<string, string>> = {
  "missing-dead-queue": "RD411",
  "queue-type-mismatch": "RD443",
  "redrive-not-allowed": "RD452",
};

/** The losses that a message's redrive can lead to. It tries every state, with the full count of receives. */
function redriveLosses(queues: readonly Made[]): Set<string> {
  const semantics = semanticsOf({
    queues: queues.map((each) => semanticQueue(each, queues)),
    topics: [],
    subscriptions: [],
  });
  const found = new Set<string>();
  for (const { name: start } of queues) {
    const group = start.endsWith(".fifo") ? { groupId: "g", deduplicationId: "d" } : {};
    const open: MessageState[] = semantics.send({ queue: start, ...group }).flat();
    const seen = new Set<string>();
    for (const state of open) {
      // The largest limit here is 3, so all counts from four on behave alike.
      const capped = {
        ...state,
        receiveCount: Math.min(state.receiveCount, 4),
        receivesHere: Math.min(state.receivesHere, 4),
      };
      const key = JSON.stringify(capped);
      if (seen.has(key)) continue;
      seen.add(key);
      if (capped.place.kind === "lost") found.add(`${problemCodes[capped.place.cause]} ${capped.place.queue}`);
      for (const kind of ["delay-passes", "receive", "let-go", "visibility-passes"] as const)
        open.push(...semantics.step(capped, { kind }).flat());
    }
  }
  return found;
}

/**
 * Names the queue that deletes a message for its age when every receive times out, and whether that happens on arrival.
 * It adds up the seconds along the way.
 */
function deletedForAge(start: string, queues: ReadonlyMap<string, Made>): string | null {
  let age = 0;
  const met = new Set<string>();
  for (let at: Made | undefined = queues.get(start); at !== undefined && !met.has(at.name);) {
    met.add(at.name);
    const isFifo = at.name.endsWith(".fifo");
    if (isFifo) age = 0;
    if (met.size > 1 && age >= at.retention) return `${at.name} on arrival`;
    if (at.target === null) return null;
    age += at.delay + at.count * at.visibility;
    if (age >= at.retention) return at.name;
    const next: Made | undefined = queues.get(at.target);
    if (next === undefined || next.allow === "denyAll" || next.name.endsWith(".fifo") !== isFifo) return null;
    at = next;
  }
  return null;
}

function isInCircle(start: string, queues: ReadonlyMap<string, Made>): boolean {
  let at = queues.get(start)?.target;
  for (let step = 0; step < queues.size && at !== start; step++) at = queues.get(at ?? "")?.target;
  return at === start;
}

test("an audit reports exactly the losses and circles that can happen", () => {
  const seen = new Map<string, number>();
  forAll(2_000, [fc.uniqueArray(made, { selector: (each) => each.name, minLength: 1 })], (queues) => {
    const byName = new Map(queues.map((each) => [each.name, each]));
    const expected = redriveLosses(queues);
    for (const { name: own, target } of queues) {
      const place = deletedForAge(own, byName);
      // The finding names each queue that contributes to the deletion.
      if (place !== null && (place === own || deletedForAge(target ?? "", byName) !== place))
        expected.add(`RD449 ${own}`);
      if (isInCircle(own, byName)) expected.add("RD444");
      if (target === null && !queues.some((each) => each.target === own)) expected.add(`RD415 ${own}`);
    }
    const told = new Set(["RD415", "RD411", "RD443", "RD444", "RD449", "RD452"]);
    const found = findingsIn([
      ...queues.map((each) =>
        queue(each.name, {
          VisibilityTimeout: each.visibility,
          MessageRetentionPeriod: each.retention,
          DelaySeconds: each.delay,
          RedriveAllowPolicy: { redrivePermission: each.allow },
          ...(each.target === null ? {} : redriveTo(each.target, each.count)),
        }),
      ),
      { Subscriptions: [] },
    ])
      .filter(({ code }) => told.has(code))
      .flatMap(({ code, value, message }) =>
        code === "RD444"
          ? ["RD444"]
          : (Array.isArray(value) ? value : [message.split(" ")[0]]).map((each) => `${code} ${each}`),
      );
    expect([...new Set(found)].toSorted(), arnOf("a")).toEqual([...expected].toSorted());
    for (const each of expected) seen.set(each.slice(0, 5), (seen.get(each.slice(0, 5)) ?? 0) + 1);
  });
  for (const code of ["RD415", "RD411", "RD443", "RD444", "RD449", "RD452"])
    expect(seen.get(code) ?? 0, code).toBeGreaterThan(20);
});
