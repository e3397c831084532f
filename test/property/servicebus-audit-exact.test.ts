import fc from "fast-check";
import { expect, test } from "vitest";

import { type MessageState, semanticsOf, type ServicebusEvent } from "../../src/brokers/servicebus/prove/semantics.ts";
import { brokers } from "../../src/index.ts";
import { forAll } from "../support/for-all.ts";

// For queues of Service Bus, the audit must report exactly the losses that the semantics allows: no more and no less.

const { auditor } = brokers.servicebus;
const names = ["a", "b", "c", "d", "e", "f"] as const;

const made = fc.record({
  forwardTo: fc.option(fc.constantFrom(...names), { nil: null, freq: 2 }),
  deadTo: fc.option(fc.constantFrom(...names), { nil: null, freq: 2 }),
  ttl: fc.constantFrom(null, null, "PT1H", "PT2H"),
  deadLetters: fc.boolean(),
});
type Made = typeof made extends fc.Arbitrary<infer Value> ? Value : never;

const anyQueues = fc
  .tuple(...names.map((name) => made.map((each) => ({ ...each, name }))))
  .chain((all) => fc.subarray(all, { minLength: 1 }));

type Queue = Made & { readonly name: string };

function found(queues: readonly Queue[]): Set<string> {
  const read = auditor.file.read(
    JSON.stringify({
      resources: queues.map(({ name, forwardTo, deadTo, ttl, deadLetters }) => ({
        type: "Microsoft.ServiceBus/namespaces/queues",
        name: `shop/${name}`,
        properties: {
          deadLetteringOnMessageExpiration: deadLetters,
          ...(forwardTo === null ? {} : { forwardTo }),
          ...(deadTo === null ? {} : { forwardDeadLetteredMessagesTo: deadTo }),
          ...(ttl === null ? {} : { defaultMessageTimeToLive: ttl }),
        },
      })),
    }),
  );
  if (!read.ok) throw new Error(read.diagnostics[0]?.message);
  const target = auditor.targetOf(read.value);
  if (!target.ok || target.value === null) throw new Error("there is a target");
  const told = new Set(["RD742", "RD743", "RD745", "RD746", "RD748"]);
  return new Set(
    auditor.audit(read.value, target.value, null).flatMap(({ code, value, message }) => {
      const queuesOf = Array.isArray(value) ? (value as string[]) : [message.split(" ")[0] ?? ""];
      // A message that is never received dies of its hops, both in a ring and in too long a chain.
      const kind = (code === "RD743" && !message.includes("dead letters")) || code === "RD745" ? "hops" : code;
      return told.has(code) ? queuesOf.map((queue) => `${kind} ${queue}`) : [];
    }),
  );
}

/** The fates that the semantics allows, found by trying every event. */
function expected(queues: readonly Queue[]): Set<string> {
  const semantics = semanticsOf({
    queues: queues.map(({ name, forwardTo, deadTo, ttl, deadLetters }) => ({
      kind: "queue",
      name,
      role: "work",
      consumer: null,
      duplicateDetectionMs: null,
      lockDurationMs: 60_000,
      maxDeliveryCount: 2,
      timeToLiveMs: ttl === null ? null : ttl === "PT1H" ? 3_600_000 : 7_200_000,
      deadLetterOnExpiration: deadLetters,
      requiresSession: false,
      forwardTo,
      forwardDeadLetteredTo: deadTo,
    })),
    topics: [],
    subscriptions: [],
  });
  const content = { messageId: "1", sessionId: null, subject: null, properties: {} };
  const all = new Set<string>();
  const isThere = (name: string): boolean => queues.some((each) => each.name === name);
  for (const { name, forwardTo, deadTo } of queues) {
    for (const to of [forwardTo, deadTo]) if (to !== null && !isThere(to)) all.add(`RD742 ${name}`);
    const open: MessageState[] = semantics.send({ to: name, content, timeToLiveMs: null, scheduled: false }).flat();
    if (forwardTo !== null) {
      const isOver = open.some(
        ({ place }) => place.kind === "entity" && place.deadLetter === "MaxTransferHopCountExceeded",
      );
      // If the destination is missing, RD742 already reports it.
      if (isOver && isThere(forwardTo)) all.add(`hops ${name}`);
      continue;
    }
    const seen = new Set<string>();
    for (const each of open) {
      // Two deliveries are the limit, so every higher count behaves alike.
      const state = { ...each, deliveryCount: Math.min(each.deliveryCount, 3) };
      const key = JSON.stringify(state);
      if (seen.has(key)) continue;
      seen.add(key);
      const { place } = state;
      if (place.kind === "lost" && place.cause === "expired") {
        if (place.entity !== name) all.add(`RD746 ${name}`);
        else if (queues.some((each) => each.name === name && each.ttl !== null)) all.add(`RD748 ${name}`);
      }
      const kinds: ServicebusEvent["kind"][] = ["deliver", "lock-expires", "abandon", "dead-letter", "complete"];
      const next = [...kinds.map((kind) => ({ kind }) as ServicebusEvent), ...semantics.spontaneousEvents(state)];
      open.push(...next.flatMap((event) => semantics.step(state, event).flat()));
    }
  }
  for (const { name } of queues) if (diesInARing(name, queues)) all.add(`RD743 ${name}`);
  return all;
}

/** True if dead letters of a queue come back to it, followed from one resting place to the next. */
function diesInARing(start: string, queues: readonly Queue[]): boolean {
  const byName = new Map(queues.map((each) => [each.name, each]));
  const met = new Set<string>();
  for (let at = byName.get(start)?.deadTo ?? null; at !== null && !met.has(at);) {
    if (at === start) return true;
    met.add(at);
    const queue = byName.get(at);
    at = queue?.forwardTo ?? queue?.deadTo ?? null;
  }
  return false;
}

test("an audit reports exactly the messages that can be dropped, circle, lead nowhere or need too many hops", () => {
  const seen = new Map<string, number>();
  forAll(1_500, [anyQueues], (queues) => {
    const wanted = expected(queues);
    expect([...found(queues)].toSorted()).toEqual([...wanted].toSorted());
    for (const each of wanted) seen.set(each.slice(0, 5), (seen.get(each.slice(0, 5)) ?? 0) + 1);
  });
  for (const code of ["RD742", "RD743", "hops ", "RD746", "RD748"])
    expect(seen.get(code) ?? 0, code).toBeGreaterThan(20);
});
