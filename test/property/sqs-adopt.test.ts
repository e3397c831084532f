import { isDeepStrictEqual } from "node:util";

import { expect, test } from "vitest";

import { checkSystem, compileAndProve, type CompiledSystem } from "../../src/index.ts";
import { forAll } from "../support/for-all.ts";
import { adoptText } from "../support/reported-by-adopt.ts";
import { anySqsDeclaration, anySqsTarget } from "../support/sqs-declarations.ts";
import { listingOf, topicArnOf } from "../support/sqs-listing.ts";

type Topology = CompiledSystem<"sqs">["topology"];

/** The resources in one order, with topics as subscriptions show them: a listing does not tell who makes a topic. */
function resourcesOf({ queues, subscriptions, mappings }: Topology): readonly string[] {
  const topic = (name: string): string => (name.startsWith("arn:") ? name : topicArnOf(name));
  const all = [
    ...queues.map((each) => ({
      ...each,
      sendersTopics: each.sendersTopics.map(topic).toSorted(),
      sendersServices: each.sendersServices?.toSorted(),
    })),
    ...subscriptions.map(({ filterPolicy, ...each }) => ({
      ...each,
      topic: topic(each.topic),
      values: filterPolicy?.["routing-key"]?.map((value) => JSON.stringify(value)).toSorted() ?? null,
    })),
    ...mappings,
  ];
  return all.map((each) => JSON.stringify(each)).toSorted();
}

test("each compiled system comes back as it was, or the adoption names the queues with another retention", () => {
  const counts = { same: 0, fifo: 0, functions: 0, filtered: 0, services: 0, shared: 0 };
  forAll(2000, [anySqsDeclaration, anySqsTarget], (input, target) => {
    const { lambda = {} } = target;
    const system = checkSystem(input);
    const proved = system.ok ? compileAndProve<"sqs">(system.value, target) : system;
    // One queue alone does not show that others may share its dead-letter queue.
    const isShared = target.deadQueue === "shared";
    if (!proved.ok || (isShared && Object.keys(input.consumers).length === 1)) return;
    if (isShared) counts.shared++;
    const { topology } = proved.value.compiled;
    const timeouts = Object.entries(lambda).map(([consumer, { timeout }]) => [
      consumer,
      { "15s": 15, "1m": 60, "15m": 900 }[timeout as "15s"],
    ]);
    const listing = JSON.stringify(listingOf(topology, Object.fromEntries(timeouts) as Record<string, number>));
    const adopted = adoptText(listing, "sqs@eu-west-1", "shop", "sqs");
    expect(adopted.refused).toEqual([]);
    expect(Object.keys(adopted.draft.system.consumers).toSorted()).toEqual(Object.keys(input.consumers).toSorted());
    const again = adopted.proved.compiled.topology as Topology;
    const [wanted, found] = [topology, again].map(resourcesOf);
    if (topology.queues.some(({ fifo }) => fifo)) counts.fifo++;
    if (topology.mappings.length > 0) counts.functions++;
    if (topology.subscriptions.some(({ filterPolicy }) => filterPolicy !== null)) counts.filtered++;
    if (topology.queues.some(({ sendersServices }) => sendersServices !== undefined)) counts.services++;
    expect(adopted.unsaid.filter(({ fact }) => fact.includes("its policy lets"))).toEqual([]);
    if (isDeepStrictEqual(found, wanted)) {
      if (isShared) expect(adopted.judged).toEqual([]);
      return void counts.same++;
    }
    // A schedule of the consumers' own that takes 13 days leaves dead letters no time, and adopt declares a day. Some
    // queues of the same system can keep their 14 days.
    const shorter = new Set(again.queues.flatMap((each) => (each.retentionSeconds === 13 * 86_400 ? each.name : [])));
    const isLong = ({ name, role, retentionSeconds }: Topology["queues"][number]): boolean =>
      role === "work" && retentionSeconds === 14 * 86_400 && shorter.has(name);
    const short = {
      ...topology,
      queues: topology.queues.map((each) => (isLong(each) ? { ...each, retentionSeconds: 13 * 86_400 } : each)),
    };
    expect(found).toEqual(resourcesOf(short));
    const places = new Set(topology.queues.filter(isLong).map(({ name }) => name));
    expect(
      adopted.unsaid.filter(({ place, fact }) => places.has(place) && fact.startsWith("MessageRetentionPeriod is 14d")),
    ).not.toEqual([]);
  });
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(3);
});
