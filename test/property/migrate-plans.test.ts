import fc from "fast-check";
import { expect, test } from "vitest";

import type { ChangeRequest } from "../../src/brokers/migrating.ts";
import type { Deployment as Found } from "../../src/brokers/rabbitmq/foreign/deployment.ts";
import { type BrokerTopology, semanticsOf, semanticsVersionOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { brokerOf, type Topology } from "../../src/index.ts";
import { type Deployed, readDeployed, underNewNames } from "../../src/migrate/deployed.ts";
import { seeStep } from "../../src/migrate/judge-step.ts";
import { planBack } from "../../src/migrate/plan-back.ts";
import { type Migration, type MigrationStep, planMigration } from "../../src/migrate/plan-migration.ts";
import { refuseChange } from "../../src/migrate/refuse-change.ts";
import { afterRequest } from "../support/change/after-request.ts";
import { anyDeployment, edited, editNames, renameNames, renamed } from "../support/change/deployments.ts";
import type { Deployment } from "../support/change/registered.ts";
import { strandedOn } from "../support/change/stranded.ts";
import { forAll } from "../support/for-all.ts";

// Plans between random systems, there and back, on a broker in memory with a message in every queue. A second model of a
// plan, which knows nothing of the planner, finds no fault in them. It refutes each plan that lacks a part or has two in
// another order.

/** One event of a plan that somebody carries out. */
type Event =
  | { readonly kind: "request"; readonly request: ChangeRequest; readonly step: Step }
  /** A step has to be deployed. */
  | { readonly kind: "deployed"; readonly step: Step }
  /** The queues are empty, and publishers have left the sources. */
  | { readonly kind: "gate"; readonly queues: readonly string[] }
  /** Code runs, and takes from these queues. */
  | { readonly kind: "code"; readonly queues: readonly string[] };

interface Step {
  readonly before: Deployed;
  readonly after: Deployed;
}

type Fault = "gone" | "unread" | "unrouted" | "unfinished" | "stranded";

interface Planned {
  readonly from: Deployed;
  /** Of each step. */
  readonly sides: readonly Deployed[];
  readonly drained: readonly string[];
  readonly sources: Migration["sources"];
}

const topologyOf = ({ compiled }: Deployed): Topology => compiled.topology as Topology;
const namesOf = (side: Deployed, role: string): readonly string[] =>
  topologyOf(side).queues.flatMap((queue) => (queue.role === role ? [queue.name] : []));

function plannedFrom(from: Deployed, { steps, drained, sources }: Migration): Planned {
  const sides = steps.flatMap((step) => readDeployed(step.system, step.target) ?? []);
  return { from, sides, drained, sources };
}

/** The requests of a step on a broker that has the one before. */
function requestsOf({ before, after }: Step, found: Found): readonly ChangeRequest[] {
  const seen = seeStep(found, before, after);
  if (!seen.ok) throw new Error(seen.diagnostics[0]?.message);
  return seen.value.requests ?? [];
}

function eventsOf({ from, sides, drained }: Pick<Planned, "from" | "sides" | "drained">): readonly Event[] {
  let before = from;
  let found = brokerOf(from.target).differ.deploymentOf(from.compiled) as Found;
  return sides.flatMap((after, index): Event[] => {
    const step = { before, after };
    const requests = requestsOf(step, found);
    found = requests.reduce(afterRequest, found);
    before = after;
    const isFirst = index === 0 && sides.length > 1;
    return [
      ...requests.map((request) => ({ kind: "request", request, step }) as const),
      { kind: "deployed", step },
      { kind: "code", queues: namesOf(after, "work") },
      // The old code ends behind the gate.
      ...(isFirst ? [{ kind: "gate", queues: drained } as const] : []),
      ...(isFirst ? [{ kind: "code", queues: namesOf(sides.at(-1) as Deployed, "work") } as const] : []),
    ];
  });
}

/** The faults that a message could meet while somebody carries out events. */
function faultsOf({ from, sides, sources }: Planned, events: readonly Event[]): ReadonlySet<Fault> {
  const last = sides.at(-1) as Deployed;
  const version = semanticsVersionOf(from.target as never);
  const faults = new Set<Fault>();
  const kept = promisesIn(from, last);
  let promises: readonly Promise[] = [...kept, ...promisesUntilLeft({ from, sides, sources })];
  const holding = new Set(topologyOf(from).queues.map(({ name }) => name));
  const works = new Set([from, ...sides].flatMap((side) => namesOf(side, "work")));
  let found = brokerOf(from.target).differ.deploymentOf(from.compiled) as Found;
  for (const event of events) {
    if (event.kind === "gate") {
      for (const queue of event.queues) holding.delete(queue);
      promises = kept;
    }
    if (event.kind === "code")
      for (const queue of holding) if (works.has(queue) && !event.queues.includes(queue)) faults.add("unread");
    if (event.kind === "deployed" && requestsOf(event.step, found).length > 0) faults.add("unfinished");
    if (event.kind !== "request") continue;
    found = afterRequest(found, event.request);
    const own = found.virtualHosts[0]?.topology as BrokerTopology;
    const semantics = semanticsOf(own, version);
    for (const { exchange, routingKey, queues } of promises) {
      const reached = semantics.publish({ exchange, routingKey }).flat();
      const ways = reached.flatMap(({ place }) =>
        place.kind === "queue" && queues.includes(place.queue) ? [place.queue] : [],
      );
      if (ways.length === 0) faults.add("unrouted");
      for (const queue of ways) holding.add(queue);
    }
    const there = new Set(own.queues.map(({ name }) => name));
    if ([...holding].some((queue) => !there.has(queue))) faults.add("gone");
    const { before, after } = event.step;
    // A consumer that drains has another name in the step, and the same queue.
    const was = topologyOf(underNewNames(before, after.system));
    const expected = { topologies: [was, topologyOf(after)], settled: [was], holding: new Set(holding), promised: [] };
    if (strandedOn(own, expected, version).some((each) => !each.endsWith(" is gone"))) faults.add("stranded");
  }
  return faults;
}

/** Publishers publish to the sources that they leave, up to the gate. */
function promisesUntilLeft({ from, sides, sources }: Pick<Planned, "from" | "sides" | "sources">): readonly Promise[] {
  return promisesIn(from, sides[0] as Deployed).filter(({ exchange }) => sources.some(({ name }) => name === exchange));
}

interface Promise {
  readonly exchange: string;
  readonly routingKey: string;
  readonly queues: readonly string[];
}

/** The messages that a consumer takes before and after, with its queues. */
function promisesIn(from: Deployed, to: Deployed): readonly Promise[] {
  const taken = (side: Deployed) => {
    const { exchanges, queues, bindings } = topologyOf(side);
    const kinds = new Map(
      exchanges.flatMap(({ name, role, kind }) => (role === "source" ? [[name, kind] as const] : [])),
    );
    const owners = new Map(
      queues.flatMap(({ name, role, consumer }) => (role === "work" ? [[name, consumer] as const] : [])),
    );
    return bindings.flatMap(({ source, destination, routingKey }) => {
      const kind = kinds.get(source);
      const consumer = owners.get(destination);
      if (kind === undefined || consumer === undefined) return [];
      const key = kind === "direct" ? routingKey : routingKey.replace("*", "placed").replace("#", "order.placed");
      return [{ id: JSON.stringify([consumer, source, key]), exchange: source, routingKey: key, queue: destination }];
    });
  };
  const now = new Map(taken(to).map((each) => [each.id, each.queue]));
  return taken(underNewNames(from, to.system)).flatMap(({ id, exchange, routingKey, queue }) => {
    const next = now.get(id);
    return next === undefined ? [] : [{ exchange, routingKey, queues: [queue, next] }];
  });
}

const isDelete = (event: Event): boolean => event.kind === "request" && event.request.method === "DELETE";

/** Plans with a mistake, and the fault that it has to show. Null if a plan has no place for the mistake. */
const mistakes: Readonly<
  Record<
    string,
    { faults: readonly Fault[]; make: (planned: Planned, migration: Migration) => readonly Event[] | null }
  >
> = {
  "the last step first": {
    faults: ["unread"],
    // A plan for sources alone drains at most queues where messages wait, which no code takes from.
    make: ({ from, sides, drained }, { moved, gone }) =>
      moved.length + gone.length === 0 ? null : eventsOf({ from, sides: sides.toReversed(), drained }),
  },
  "without the gate": {
    faults: ["unread", "unrouted"],
    make: (planned, { moved, gone }) =>
      moved.length + gone.length === 0 && promisesUntilLeft(planned).length === 0
        ? null
        : eventsOf(planned).filter(({ kind }) => kind !== "gate"),
  },
  "unbind before bind": {
    faults: ["unrouted"],
    make: (planned, { moved }) => {
      const events = eventsOf(planned);
      // A step may end bindings that the one before has made.
      const made = events.flatMap((event) =>
        event.kind === "request" && event.request.method === "POST" ? [`${event.request.path}/`] : [],
      );
      const isMade = ({ path }: ChangeRequest): boolean => made.some((each) => path.startsWith(each));
      const unbind = events.filter((event) => event.kind === "request" && isDelete(event) && !isMade(event.request));
      const isBound = promisesIn(planned.from, planned.sides.at(-1) as Deployed).some(
        ({ queues: [was, is] }) => was !== is && moved.some(({ queue }) => queue === was),
      );
      const isLeft = promisesUntilLeft(planned).length > 0;
      return (isBound || isLeft) && unbind.length > 0
        ? [...unbind, ...events.filter((event) => !unbind.includes(event))]
        : null;
    },
  },
  "delete before drained": {
    faults: ["gone"],
    make: (planned, { moved, gone }) => {
      const step = { before: planned.from, after: planned.from };
      const queue = [...moved, ...gone].find((each) => each.queue !== null)?.queue;
      const path = `api/queues/%2F/${encodeURIComponent(queue ?? "")}`;
      const request = { method: "DELETE", path, text: "" } as const;
      return queue === undefined ? null : [{ kind: "request", request, step }, ...eventsOf(planned)];
    },
  },
  "without the last request": {
    faults: ["unfinished"],
    make: (planned) => {
      const events = eventsOf(planned);
      const at = events.findLastIndex(({ kind }) => kind === "request");
      return at === -1 ? null : events.toSpliced(at, 1);
    },
  },
};

function deployedOf({ system, version, strategy }: Deployment): Deployed | null {
  return readDeployed(system, { broker: "rabbitmq", version, strategy });
}

/** Changes that move a consumer to a new queue, or publishers to a new source. Few others bind and unbind. */
const moves = ["strategy", "strategy", "retry", "retry", "name of a queue", "kind of a source", "name of a source"];

const counts: Record<string, number> = {};
const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);

/** True if a deployment of one of these sides would be refused, or if a message could meet a fault. */
function isRefuted(planned: Planned, sides: readonly Deployed[]): boolean {
  const befores = [planned.from, ...sides];
  const isRefused = sides.some((to, at) => refuseChange(underNewNames(befores[at] ?? to, to.system), to).length > 0);
  return isRefused || faultsOf(planned, eventsOf({ ...planned, sides })).size > 0;
}

/** No step can be left out, and no two can change places. */
function checkSteps(planned: Planned): void {
  const { sides } = planned;
  for (const at of sides.keys()) {
    if (at === sides.length - 1) return;
    expect(isRefuted(planned, sides.toSpliced(at, 1)), `without step ${at + 1}`).toBe(true);
    const [one, two] = sides.slice(at, at + 2) as [Deployed, Deployed];
    expect(isRefuted(planned, sides.toSpliced(at, 2, two, one)), `step ${at + 2} before ${at + 1}`).toBe(true);
    count("steps");
  }
}

/** A queue passes to another consumer only if that one drains it, or if the declaration says that it is the same. */
function checkOwners({ from, sides }: Planned): void {
  const last = (sides.at(-1) as Deployed).system.consumers;
  for (const { consumer, workQueue } of from.contracts.values()) {
    const { formerly: first = consumer } = from.system.consumers[consumer] ?? {};
    for (const [name, own] of sides.flatMap(({ system }) => Object.entries(system.consumers))) {
      const side = sides.find(({ contracts }) => contracts.get(name)?.workQueue === workQueue);
      if (side === undefined || workQueue === null) continue;
      const isDrain = !Object.hasOwn(last, name);
      const isSaid = name === consumer || [consumer, first].includes(own.formerly ?? "");
      const isBack = name === first && !Object.hasOwn(last, consumer);
      expect(isDrain || isSaid || isBack, `${workQueue} of ${consumer} passes to ${name}`).toBe(true);
    }
  }
}

function checkPlan(planned: Planned, migration: Migration): void {
  checkOwners(planned);
  expect([...faultsOf(planned, eventsOf(planned))]).toEqual([]);
  count("plans");
  if (migration.avoided.length === 0) checkSteps(planned);
  for (const [name, { faults, make }] of Object.entries(mistakes)) {
    const events = make(planned, migration);
    if (events === null) continue;
    const found = [...faultsOf(planned, events)];
    expect(
      found.filter((fault) => faults.includes(fault)),
      name,
    ).not.toEqual([]);
    for (const fault of found) count(`${name}: ${fault}`);
    count(name);
  }
}

test("plans there and back have no fault, and each mistake in one shows its own", { timeout: 600_000 }, () => {
  const anyFirst = fc.tuple(anyDeployment, fc.constantFrom(true, false, false, false)).map(([drawn, isRenamed]) => {
    return isRenamed ? { ...drawn, ...renamed(drawn, "early") } : drawn;
  });
  forAll(
    200,
    [anyFirst, anyDeployment, fc.constantFrom(...editNames, ...renameNames, ...moves)],
    (first, other, edit) => {
      const next = edited(first, edit, { ...other, vhost: first.vhost });
      const from = deployedOf(first);
      const to = next === null ? null : deployedOf({ ...next, version: first.version });
      // Under another name of the system nothing drains the old queues, and the plan says so.
      if (from === null || to === null || from.system.name !== to.system.name) return;
      const migration = planMigration(from, to.system, to.target);
      if (!migration.ok) {
        expect(migration.diagnostics.every(({ code }) => code === "RD306")).toBe(true);
        // Both would give one consumer's messages to another.
        for (const { message } of migration.diagnostics)
          expect(message).toMatch(/ cannot pass to |: its consumer is "/);
        return count("refused");
      }
      const { avoided, gone, sources } = migration.value;
      const inSteps = migration.value.steps.length > 1 || migration.value.reasons.length > 0;
      // A consumer that cannot lose its sources alone goes at once, and its queue stays.
      const isLeft = topologyOf(from).queues.some(
        ({ role, consumer }) => role === "work" && consumer !== null && !Object.hasOwn(to.system.consumers, consumer),
      );
      if (!inSteps && isLeft) return count("left to stay");
      // Without its first step a plan would be refused, or leave a consumer's messages to nobody.
      const isRefused = refuseChange(underNewNames(from, to.system), to).length > 0;
      expect(inSteps).toBe(isRefused || gone.length + avoided.length > 0);
      if (sources.length > 0) count("sources left");
      const planned = plannedFrom(from, migration.value);
      checkPlan(planned, migration.value);
      for (const present of planned.sides) {
        const back = planBack(from, present, planned.sides.at(-1) as Deployed);
        if (!back.ok) {
          expect(back.diagnostics.every(({ code }) => code === "RD306")).toBe(true);
          count("no way back");
          continue;
        }
        checkPlan(plannedFrom(back.value.start, back.value.migration), back.value.migration);
        const end = back.value.migration.steps.at(-1) as MigrationStep;
        expect(readDeployed(end.system, end.target)?.compiled).toEqual(from.compiled);
        count("ways back");
      }
    },
  );
  // Few of the drawn changes have no steps, and other tests refuse those by name.
  for (const name of ["plans", "steps", "sources left", "ways back", ...Object.keys(mistakes)])
    expect(counts[name], name).toBeGreaterThan(1);
});
