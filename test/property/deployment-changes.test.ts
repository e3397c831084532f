import fc from "fast-check";
import { expect, test } from "vitest";

import type { SemanticsVersion } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import type { Topology } from "../../src/index.ts";
import { noteTaken, refusalOf, type Taken } from "../support/change/component-refusal.ts";
import { anyDeployment, edited, editNames, topologyOf } from "../support/change/deployments.ts";
import { runUpdate, type StateEntry } from "../support/change/engine-model.ts";
import { type MemoryBroker, memoryBroker } from "../support/change/memory-broker.ts";
import { provider } from "../support/change/providers.ts";
import { type Deployment, registeredFor } from "../support/change/registered.ts";
import { type Promised, strandedOn } from "../support/change/stranded.ts";
import { forAllAsync } from "../support/for-all.ts";

// One operator makes any changes, by a program or by `destroy`, with a preview or without, with protection or without.
// The engine works in any order and may fail at any step. Before each step a message may lie in every queue and go to
// every source.

const anyStep = fc.record({
  /** The operator's change. Null for `destroy`. */
  edit: fc.option(fc.constantFrom(...editNames), { nil: null, freq: 8 }),
  other: anyDeployment,
  skipPreview: fc.boolean(),
  unprotect: fc.boolean(),
  /** The update fails before this step. Mostly it does not fail. */
  failsAt: fc.option(fc.nat({ max: 60 }), { nil: null }),
  order: fc.infiniteStream(fc.nat({ max: 1_000 })),
});

const foreign = "foreign";

test("any deployment over any other strands no message", { timeout: 1_200_000 }, async () => {
  const counts = { updates: 0, refused: 0, failed: 0, deletions: 0 };
  await forAllAsync(400, [anyDeployment, fc.array(anyStep, { minLength: 1, maxLength: 3 })], async (first, steps) => {
    const world = await deployed(first, newestOf([first, ...steps.map(({ other }) => other)]));
    for (const step of steps) {
      const result = await change(world, step);
      counts.updates += 1;
      if (result.error !== null) counts.failed += 1;
      if (result.refused) counts.refused += 1;
      counts.deletions += result.deletions;
    }
  });
  // A run without any refusal, failure or deletion would prove nothing.
  expect(counts.updates).toBeGreaterThan(100);
  for (const count of [counts.refused, counts.failed, counts.deletions]) expect(count).toBeGreaterThan(3);
});

interface World {
  readonly broker: MemoryBroker;
  readonly version: SemanticsVersion;
  /** The topologies ever deployed or planned, by virtual host. */
  readonly topologies: Map<string, Topology[]>;
  /** The topologies by which consumers ever ran. */
  readonly settled: Map<string, Topology[]>;
  /** Every deployment that was made or planned. */
  readonly deployments: Deployment[];
  readonly promised: Map<string, Promised[]>;
  readonly holding: Map<string, Set<string>>;
  readonly taken: Taken;
  state: readonly StateEntry[];
  last: Deployment | null;
}

/** The broker is as new as the newest target: it may hold a topology for an older version, but none for a newer one. */
function newestOf(deployments: readonly Deployment[]): SemanticsVersion {
  const versions = new Set(deployments.map(({ version }) => version));
  return versions.has("4.3") ? "4.3.1" : versions.has("4.0") ? "4.0" : "3.10";
}

/** Makes a first deployment without failures, and binds a foreign queue to each of its sources. */
async function deployed(first: Deployment, version: SemanticsVersion): Promise<World> {
  const broker = memoryBroker();
  const world: World = {
    broker,
    version,
    topologies: new Map(),
    settled: new Map(),
    deployments: [],
    promised: new Map(),
    holding: new Map(),
    taken: new Map(),
    state: [],
    last: null,
  };
  const program = await registeredFor(first);
  note(world, first);
  const result = await runUpdate([], program, {
    provider,
    backend: broker,
    skipPreview: true,
    refusal: null,
    pick: () => 0,
  });
  expect(result.error).toBeNull();
  world.state = result.state;
  noteTaken(world.state, world.taken);
  world.last = first;
  noteTaken(world.state, world.taken);
  settle(world, first, null);
  for (const { name, role } of topologyOf(first)?.exchanges ?? []) {
    if (role !== "source") continue;
    broker.create(foreignQueue(first.vhost));
    broker.bind(first.vhost, foreignBinding(name));
  }
  return world;
}

const foreignQueue = (vhost: string): StateEntry =>
  ({
    type: "rabbitmq:index/queue:Queue",
    inputs: { vhost, name: foreign, settings: { argumentsJson: "{}" } },
  }) as unknown as StateEntry;

const foreignBinding = (source: string) => ({
  source,
  destination: foreign,
  destinationKind: "queue" as const,
  routingKey: "order.placed",
  arguments: {},
});

function note({ topologies, holding, deployments }: World, { vhost, ...deployment }: Deployment): void {
  deployments.push({ vhost, ...deployment });
  const topology = topologyOf({ vhost, ...deployment });
  if (topology !== null) topologies.set(vhost, [...(topologies.get(vhost) ?? []), topology]);
  if (!holding.has(vhost)) holding.set(vhost, new Set());
}

/**
 * Records the routes that publishers may rely on after an update: all earlier ones, except those that a remaining
 * consumer has given up.
 */
function settle(world: World, now: Deployment, before: Deployment | null): void {
  const kept = (world.promised.get(now.vhost) ?? []).filter((each) => before === null || !isWithdrawn(each, now));
  const own = promisedBy(now);
  const topology = topologyOf(now);
  if (topology !== null) world.settled.set(now.vhost, [...(world.settled.get(now.vhost) ?? []), topology]);
  for (const { name } of topology?.queues ?? []) world.holding.get(now.vhost)?.add(name);
  const all = [...kept, ...own].map((each) => JSON.stringify(each));
  world.promised.set(
    now.vhost,
    [...new Set(all)].map((text) => JSON.parse(text) as Promised),
  );
}

function promisedBy(deployment: Deployment): Promised[] {
  const { exchanges = [], bindings = [], queues = [] } = topologyOf(deployment) ?? {};
  const sources = new Map(exchanges.map(({ name, role, kind }) => [name, role === "source" ? kind : null]));
  const direct = queues.flatMap(({ name, role, consumer }): Promised[] => {
    const isDirect = role === "work" && deployment.system.consumers[consumer ?? ""]?.from === undefined;
    return isDirect ? [{ exchange: "", routingKey: name, workQueue: name }] : [];
  });
  const bound = bindings.flatMap(({ source, destination, routingKey }) => {
    const kind = sources.get(source) ?? null;
    if (kind === null) return [];
    const key = kind === "direct" ? routingKey : routingKey.replace("*", "placed").replace("#", "order.placed");
    return [{ exchange: source, routingKey: key, workQueue: destination }];
  });
  return [...direct, ...bound];
}

/** True if the consumer and its source are still declared, but the consumer no longer asks for this message. */
function isWithdrawn(promised: Promised, now: Deployment): boolean {
  const topology = topologyOf(now);
  if (topology === null) return false;
  const stays =
    topology.queues.some(({ name }) => name === promised.workQueue) &&
    topology.exchanges.some(({ name }) => name === promised.exchange);
  return stays && !promisedBy(now).some((each) => JSON.stringify(each) === JSON.stringify(promised));
}

/**
 * True if a queue of another consumer changes hands, with its messages, and the state does not tell. Another component
 * made it, or the component was destroyed since. If the state tells, RD302 refuses this.
 */
function takesOver({ deployments, state }: World, to: Deployment): boolean {
  const isKnown = ({ component }: Deployment): boolean =>
    component === to.component &&
    state.some(
      ({ type, urn, isReplaced }) => type.startsWith("redeliver:") && urn.endsWith(`::${component}`) && !isReplaced,
    );
  const consumers = new Map(topologyOf(to)?.queues.map(({ name, consumer }) => [name, consumer]));
  return deployments
    .filter((each) => each.vhost === to.vhost && !isKnown(each))
    .flatMap((each) => topologyOf(each)?.queues ?? [])
    .some(({ name, consumer }) => consumers.has(name) && consumers.get(name) !== consumer);
}

async function change(
  world: World,
  step: typeof anyStep extends fc.Arbitrary<infer Step> ? Step : never,
): Promise<{ error: string | null; refused: boolean; deletions: number }> {
  const { broker, last } = world;
  const to = step.edit === null || last === null ? null : edited(last, step.edit, step.other);
  if (to === null && step.edit !== null) return { error: null, refused: false, deletions: 0 };
  if (step.unprotect) world.state = world.state.map((entry) => ({ ...entry, protect: false }));
  const program = to === null ? [] : await registeredFor(to);
  const refusal = refusalOf(world.state, program, world.taken);
  if (to !== null && refusal === null && takesOver(world, to)) return { error: null, refused: false, deletions: 0 };
  const [order] = [step.order[Symbol.iterator]()];
  let done = 0;
  let found: readonly string[] = [];
  const look = (): void => {
    const stranded = [...world.holding].flatMap(([vhost, queues]) =>
      strandedOn(
        broker.topologyOf(vhost),
        {
          topologies: world.topologies.get(vhost) ?? [],
          settled: world.settled.get(vhost) ?? [],
          holding: queues,
          promised: (world.promised.get(vhost) ?? []).filter(
            (each) => to === null || to.vhost !== vhost || !isWithdrawn(each, to),
          ),
        },
        world.version,
      ),
    );
    if (found.length === 0) found = stranded;
  };
  const result = await runUpdate(world.state, program, {
    provider,
    backend: broker,
    skipPreview: step.skipPreview,
    refusal,
    pick: (count) => (count <= 1 ? 0 : Number(order.next().value) % count),
    beforeStep: () => {
      look();
      if (step.failsAt === done) throw new Error("the connection is cut");
      // A declaration that is refused changes nothing, and may give a queue to another consumer.
      if (done === 0 && to !== null) note(world, to);
      done += 1;
    },
  });
  look();
  const context = `${JSON.stringify({ last, to, ...step, other: 0, order: 0 })}\n${result.steps.join("\n")}\n${result.error ?? "through"}`;
  expect(found, context).toEqual([]);
  for (const vhost of broker.vhosts()) {
    const { bindings } = broker.topologyOf(vhost);
    const before = (world.topologies.get(vhost)?.[0]?.exchanges ?? []).filter(({ role }) => role === "source");
    if (vhost !== firstVhost(world)) continue;
    for (const { name } of before) expect(bindings, context).toContainEqual(foreignBinding(name));
  }
  world.state = result.state;
  noteTaken(world.state, world.taken);
  if (result.error === null && to !== null) {
    if (done === 0) note(world, to);
    settle(world, to, last);
    world.last = to;
  }
  // The operator wanted these routes gone. An update that was cut off may have removed them already.
  if (result.error !== null && result.steps.length > 0 && to !== null) {
    const kept = (world.promised.get(to.vhost) ?? []).filter((each) => !isWithdrawn(each, to));
    world.promised.set(to.vhost, kept);
  }
  if (result.error === null && to === null) world.last = null;
  const deletions = result.steps.filter((each) => each.startsWith("delete ")).length;
  return { error: result.error, refused: refusal !== null, deletions };
}

function firstVhost({ topologies }: World): string {
  return [...topologies.keys()][0] ?? "/";
}
