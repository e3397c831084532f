import fc from "fast-check";
import { expect, test } from "vitest";

import { checkSystem, type CompiledSystem, type System } from "../../src/index.ts";
import { type Deployed, readDeployed, underNewNames } from "../../src/migrate/deployed.ts";
import { planBack } from "../../src/migrate/plan-back.ts";
import { type Migration, planMigration } from "../../src/migrate/plan-migration.ts";
import { forAll } from "../support/for-all.ts";

// Plans for consumers in order on SQS and Service Bus, in a model that knows nothing of the planner: numbered messages of
// one key, published before, during and after each step. New code takes as early as the plan lets it, and old code as
// late as it may. No message is lost, and none is handled before an earlier one. Each mistake in a plan shows its fault.

type Fault = "overtaken" | "unread" | "unrouted";

interface Planned {
  readonly from: Deployed;
  readonly sides: readonly Deployed[];
  readonly migration: Pick<Migration, "held" | "moved" | "gone" | "sources">;
}

/** The mistakes of somebody who carries out a plan. */
interface Mistakes {
  readonly startsAll?: boolean;
  readonly skipsGate?: boolean;
  readonly unbindsFirst?: boolean;
  readonly publishersStay?: boolean;
}

/** A subscription, and the place where its messages lie. */
interface Way {
  readonly topic: string;
  readonly queue: string;
}

function waysIn({ compiled }: Deployed): readonly Way[] {
  if ("mappings" in compiled.topology) return (compiled as CompiledSystem<"sqs">).topology.subscriptions;
  return (compiled as CompiledSystem<"servicebus">).topology.subscriptions.map(({ topic, name, forwardTo }) => ({
    topic,
    queue: forwardTo ?? `${topic}/Subscriptions/${name}`,
  }));
}

function topicOf({ compiled }: Deployed, source: string): string | undefined {
  const topics: readonly { readonly name: string; readonly source: string }[] =
    "topics" in compiled.topology ? compiled.topology.topics : [];
  return topics.find((each) => each.source === source)?.name;
}

function queueOf({ compiled }: Deployed, consumer: string): string {
  const contracts: readonly { readonly consumer: string; readonly workQueue: string | null }[] = compiled.contracts;
  return contracts.find((each) => each.consumer === consumer)?.workQueue ?? "";
}

/** A stream of messages of one key: the places that its publisher uses before and after it has moved. */
interface Stream {
  readonly before: string;
  /** Null if the publisher stops. */
  readonly after: string | null;
  /** The consumers that take all of it. */
  readonly consumers: readonly string[];
}

const nameAfter = (consumer: string, last: Deployed): string =>
  Object.hasOwn(last.system.consumers, consumer) ? consumer : consumer.replace(/-after$/, "");

function streamsOf({ from, sides, migration }: Planned): readonly Stream[] {
  const last = sides.at(-1) as Deployed;
  const takes = (side: Deployed, consumer: string): string[] =>
    Object.keys(side.system.consumers[consumer]?.from ?? {});
  const pairs = Object.keys(from.system.consumers).map((before) => [before, nameAfter(before, last)] as const);
  const ofSources = Object.keys(from.system.sources).map((source): Stream => {
    const before = topicOf(from, source) ?? "";
    const left = migration.sources.find(({ name }) => name === before);
    const taking = pairs.filter(([old, now]) => takes(from, old).includes(source) && takes(last, now).includes(source));
    return { before, after: left === undefined ? before : left.newName, consumers: taking.map(([, now]) => now) };
  });
  const direct = pairs.filter(([old, now]) => takes(from, old).length === 0 && takes(last, now).length === 0);
  const ofQueues = direct.flatMap(([old, now]): Stream[] => {
    if (!Object.hasOwn(last.system.consumers, now)) return [];
    return [{ before: queueOf(from, old), after: queueOf(last, now), consumers: [now] }];
  });
  return [...ofSources, ...ofQueues];
}

function faultsOf(planned: Planned, mistakes: Mistakes = {}): ReadonlySet<Fault> {
  const { from, sides, migration } = planned;
  const last = sides.at(-1) as Deployed;
  const streams = streamsOf(planned);
  const faults = new Set<Fault>();
  const queues = new Map<string, number[]>();
  const handled = new Map<string, number[]>();
  const wanted = new Map<string, number[]>();
  let ways = waysIn(from);
  let haveMoved = false;
  let number = 0;
  const put = (queue: string, message: number): void => void queues.set(queue, [...(queues.get(queue) ?? []), message]);
  const publish = (): void => {
    for (const { before, after, consumers } of streams) {
      const place = haveMoved ? after : before;
      if (place === null) continue;
      const own = ways.filter(({ topic }) => topic === place).map(({ queue }) => queue);
      const isQueue = [from, ...sides].some((side) =>
        Object.keys(side.system.consumers).some((key) => queueOf(side, key) === place),
      );
      for (const queue of isQueue ? [place] : own) put(queue, number);
      for (const consumer of consumers) {
        const reached = isQueue || own.some((queue) => placesOf(consumer).includes(queue));
        if (!reached) faults.add("unrouted");
        else wanted.set(consumer, [...(wanted.get(consumer) ?? []), number]);
      }
      number += 1;
    }
  };
  const oldOf = (consumer: string): string | undefined =>
    Object.keys(from.system.consumers).find((before) => nameAfter(before, last) === consumer);
  const placesOf = (consumer: string): readonly string[] => [
    queueOf(from, oldOf(consumer) ?? ""),
    queueOf(last, consumer),
  ];
  const take = (queue: string, consumer: string): void => {
    handled.set(consumer, [...(handled.get(consumer) ?? []), ...(queues.get(queue) ?? [])]);
    queues.delete(queue);
  };
  const takeNew = (isBehindGate: boolean): void => {
    for (const consumer of Object.keys(last.system.consumers)) {
      const isHeld = mistakes.startsAll !== true && migration.held.some((each) => each.consumer === consumer);
      const [old, now] = placesOf(consumer);
      if (old === now || isBehindGate || !isHeld) take(now ?? "", consumer);
    }
  };
  const deploy = (side: Deployed): void => {
    const next = waysIn(side);
    const isNext = ({ topic, queue }: Way): boolean =>
      next.some((each) => each.topic === topic && each.queue === queue);
    ways =
      mistakes.unbindsFirst === true
        ? ways.filter(isNext)
        : [
            ...ways,
            ...next.filter((each) => !ways.some((own) => own.topic === each.topic && own.queue === each.queue)),
          ];
    publish();
    ways = next;
    publish();
  };
  publish();
  for (const [index, side] of sides.entries()) {
    deploy(side);
    if (index > 0) continue;
    takeNew(false);
    publish();
    haveMoved = mistakes.publishersStay !== true;
    publish();
    takeNew(false);
    if (mistakes.skipsGate === true) continue;
    for (const before of Object.keys(from.system.consumers)) {
      const consumer = nameAfter(before, last);
      take(queueOf(from, before), consumer);
    }
  }
  publish();
  takeNew(true);
  publish();
  takeNew(true);
  for (const [consumer, messages] of wanted) {
    const first = [...new Set(handled.get(consumer))];
    if (messages.some((each) => !first.includes(each))) faults.add("unread");
    const inOrder = [from.system.consumers[oldOf(consumer) ?? ""], last.system.consumers[consumer]];
    if (!inOrder.every((own) => own?.order === "per-key")) continue;
    if (first.some((each, at) => at > 0 && each < (first[at - 1] ?? 0))) faults.add("overtaken");
  }
  return faults;
}

const mistakes: Readonly<
  Record<string, { mistake: Mistakes; faults: readonly Fault[]; is: (planned: Planned) => boolean }>
> = {
  "the new code at once": {
    mistake: { startsAll: true },
    faults: ["overtaken"],
    is: (planned) => heldWithMessages(planned),
  },
  "without the gate": {
    mistake: { skipsGate: true },
    faults: ["unread", "overtaken"],
    is: (planned) => movedWithMessages(planned),
  },
  "unbind before bind": {
    mistake: { unbindsFirst: true },
    faults: ["unrouted"],
    is: ({ from, sides, migration }) => {
      const places = new Set(waysIn(sides[0] as Deployed).map(({ topic, queue }) => `${topic} ${queue}`));
      return streamsOf({ from, sides, migration }).some(({ before, consumers }) =>
        consumers.some((consumer) => {
          const [old, now] = [consumer, `${consumer}-after`].filter((key) => Object.hasOwn(from.system.consumers, key));
          const queue = queueOf(from, old ?? now ?? "");
          return (
            !places.has(`${before} ${queue}`) && waysIn(from).some((way) => way.topic === before && way.queue === queue)
          );
        }),
      );
    },
  },
  "publishers that stay": {
    mistake: { publishersStay: true },
    faults: ["unread", "unrouted"],
    is: (planned) =>
      streamsOf(planned).some(
        ({ before, after, consumers }) => consumers.length > 0 && after !== null && after !== before,
      ),
  },
};

function movedWithMessages(planned: Planned): boolean {
  const last = planned.sides.at(-1) as Deployed;
  return streamsOf(planned).some(({ consumers }) =>
    consumers.some((consumer) => {
      const old = Object.keys(planned.from.system.consumers).find((before) => nameAfter(before, last) === consumer);
      return queueOf(planned.from, old ?? "") !== queueOf(last, consumer);
    }),
  );
}

function heldWithMessages(planned: Planned): boolean {
  return streamsOf(planned).some(({ consumers, after }) =>
    planned.migration.held.some(({ consumer }) => after !== null && consumers.includes(consumer)),
  );
}

const consumer = fc.record({
  order: fc.constantFrom("per-key", "per-key", "none"),
  from: fc.constantFrom({ orders: "all" }, { orders: "all" }, { sales: "all" }, undefined),
  queue: fc.constantFrom(undefined, undefined, "legacy"),
});
const declared = fc.record({
  names: fc.constantFrom(undefined, undefined, { source: "events-{source}" }, { queue: "q-{consumer}" }),
  consumers: fc.record({ billing: consumer, mail: consumer }, { requiredKeys: ["mail"] }),
});
const targets = {
  sqs: { broker: "sqs", region: "eu-west-1" },
  servicebus: { broker: "servicebus", sku: "standard" },
} as const;

function sideOf(
  broker: keyof typeof targets,
  { names, consumers }: { names: unknown; consumers: object },
): Deployed | null {
  const backoff = broker === "sqs" ? { kind: "constant", delay: "1s" } : { kind: "immediate" };
  const own = Object.entries(consumers).map(([key, { queue, ...each }]) => {
    const named = queue === undefined ? {} : { queue: `${queue}-${key}` };
    return [key, { ...each, ...named, retry: { attempts: 2, backoff }, handlerTimeout: "5s" }];
  });
  const topic = { kind: "topic" };
  const made = { name: "shop", names, sources: { orders: topic, sales: topic }, consumers: Object.fromEntries(own) };
  const system = checkSystem(JSON.parse(JSON.stringify(made)) as System);
  return system.ok ? readDeployed(system.value, { ...targets[broker] }) : null;
}

const counts: Record<string, number> = {};
const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);

function plannedFrom(from: Deployed, migration: Migration): Planned {
  const sides = migration.steps.flatMap((step) => readDeployed(step.system, step.target) ?? []);
  return { from: underNewNames(from, (sides.at(-1) as Deployed).system), sides, migration };
}

function checkPlan(planned: Planned, what: string): void {
  const shown = `${what}: ${JSON.stringify([planned.from.system, planned.sides.map(({ system }) => system)])}`;
  expect([...faultsOf(planned)], shown).toEqual([]);
  count(what);
  if (planned.migration.held.length > 0) count(`${what} with code that waits`);
  for (const [name, { mistake, faults, is }] of Object.entries(mistakes)) {
    if (!is(planned)) continue;
    const found = [...faultsOf(planned, mistake)].filter((fault) => faults.includes(fault));
    expect(found, `${name}, ${shown}`).not.toEqual([]);
    count(name);
  }
}

test(
  "plans for consumers in order keep it there and back, and each mistake shows its fault",
  { timeout: 600_000 },
  () => {
    forAll(300, [fc.constantFrom("sqs", "servicebus"), declared, declared], (broker, first, other) => {
      const [from, to] = [sideOf(broker, first), sideOf(broker, other)];
      if (from === null || to === null) return;
      const planned = planMigration(from, to.system, to.target);
      if (!planned.ok) {
        expect(new Set(planned.diagnostics.map(({ code }) => code))).toEqual(new Set(["RD306"]));
        return count(`refused on ${broker}`);
      }
      if (planned.value.steps.length === 1) return;
      const there = plannedFrom(from, planned.value);
      checkPlan(there, `plans on ${broker}`);
      const last = there.sides.at(-1) as Deployed;
      const isMixed = planned.value.held.length > 0;
      const early = planBack(from, there.sides[0] as Deployed, last);
      if (isMixed) expect(early.ok).toBe(false);
      const back = planBack(from, last, last);
      if (!back.ok || back.value.migration.steps.length === 1) return count("no way back");
      checkPlan(plannedFrom(back.value.start, back.value.migration), "ways back");
    });
    const all = ["plans on sqs", "plans on servicebus", "plans on sqs with code that waits", "ways back"];
    for (const name of [...all, "plans on servicebus with code that waits", ...Object.keys(mistakes)])
      expect(counts[name], name).toBeGreaterThan(1);
  },
);
