import fc from "fast-check";
import { expect, test } from "vitest";

import type { ChangeRequest } from "../../src/brokers/migrating.ts";
import type { Deployment as Found } from "../../src/brokers/rabbitmq/foreign/deployment.ts";
import type { BrokerTopology, SemanticsVersion } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { semanticsVersionOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { brokerOf, type Topology } from "../../src/index.ts";
import { type Deployed, readDeployed, underNewNames } from "../../src/migrate/deployed.ts";
import { seeStep } from "../../src/migrate/judge-step.ts";
import { planMigration } from "../../src/migrate/plan-migration.ts";
import { afterRequest } from "../support/change/after-request.ts";
import { anyDeployment, edited, editNames } from "../support/change/deployments.ts";
import type { Deployment } from "../support/change/registered.ts";
import { strandedOn } from "../support/change/stranded.ts";
import { forAll } from "../support/for-all.ts";

// The requests of each step of a migration, made one after the other on a broker in memory. Before each, a message may
// lie in every queue. A run that begins again anywhere sees nothing strange, and makes the requests that are left.

test("the requests of a migration strand no message, and a run begins again anywhere", () => {
  const counts = { steps: 0, requests: 0, deletions: 0, mended: 0 };
  forAll(300, [anyDeployment, anyDeployment, fc.constantFrom(...editNames)], (first, other, edit) => {
    const next = edited(first, edit, { ...other, vhost: first.vhost });
    const from = deployedOf(first);
    const to = next === null ? null : deployedOf({ ...next, version: first.version });
    if (from === null || to === null) return;
    const planned = planMigration(from, to.system, to.target);
    if (!planned.ok) return;
    const { steps } = planned.value;
    let before = from;
    let found = brokerOf(from.target).differ.deploymentOf(from.compiled) as Found;
    for (const step of steps) {
      const after = step === null ? null : readDeployed(step.system, step.target);
      if (after === null) continue;
      counts.steps += 1;
      found = carriedOut(found, before, after, counts);
      before = after;
    }
  });
  expect(counts.steps).toBeGreaterThan(100);
  expect(counts.requests).toBeGreaterThan(1_000);
  expect(counts.deletions).toBeGreaterThan(10);
  expect(counts.mended).toBeGreaterThan(100);
});

function deployedOf({ system, version, strategy }: Deployment): Deployed | null {
  return readDeployed(system, { broker: "rabbitmq", version, strategy });
}

function topologyOf({ compiled }: Deployed): Topology {
  return compiled.topology as Topology;
}

function carriedOut(
  start: Found,
  before: Deployed,
  after: Deployed,
  counts: { requests: number; deletions: number; mended: number },
): Found {
  const version = semanticsVersionOf(after.target as never);
  // A consumer that drains has another name in the step, and the same queue.
  const history = [topologyOf(underNewNames(before, after.system)), topologyOf(after)];
  const all = seenOn(start, before, after).requests ?? [];
  let found = start;
  for (const [index, request] of all.entries()) {
    found = afterRequest(found, request);
    counts.requests += 1;
    if (request.method === "DELETE") counts.deletions += 1;
    const { strange, left } = seenOn(found, before, after);
    const context = all.slice(0, index + 1).map(({ text }) => text);
    expect(
      strange.differences.map(({ kind, name }) => `${kind} ${name}`),
      context.join("\n"),
    ).toEqual([]);
    expect(left, context.join("\n")).toEqual(all.slice(index + 1));
    expect(strandedIn(found, history, version), context.join("\n")).toEqual([]);
    if (request.text.startsWith("create the queue")) counts.mended += mended(found, request, before, after);
  }
  // A queue that something leads into may hold messages, so nothing mends it any more.
  const every = topologyOf(after).queues.map(({ name }) => name);
  expect(requestsOn(found, before, after, every)).toEqual([]);
  return found;
}

/** Looks at a queue that the broker has not started. It is deleted first, and then everything goes on as before. */
function mended(found: Found, { path }: ChangeRequest, before: Deployed, after: Deployed): number {
  const queue = decodeURIComponent(path.split("/").at(-1) ?? "");
  const [first, ...rest] = requestsOn(found, before, after, [queue]);
  if (first?.mends === undefined) return 0;
  expect(first).toMatchObject({ method: "DELETE", path, mends: queue });
  expect(requestsOn(afterRequest(found, first), before, after, [])).toEqual(rest);
  return 1;
}

function requestsOn(found: Found, before: Deployed, after: Deployed, late: readonly string[]) {
  const requestsFor = brokerOf(after.target).migrating?.requestsFor;
  return requestsFor?.(found as never, before.compiled, after.compiled, late) ?? [];
}

function seenOn(found: Found, before: Deployed, after: Deployed) {
  const seen = seeStep(found, before, after);
  if (!seen.ok) throw new Error(seen.diagnostics[0]?.message);
  return seen.value;
}

function strandedIn({ virtualHosts: [host] }: Found, history: readonly Topology[], version: SemanticsVersion) {
  const topologies = history.slice(0, -1);
  const holding = new Set(topologies.flatMap(({ queues }) => queues.map(({ name }) => name)));
  const expected = { topologies: history, settled: topologies, holding, promised: [] };
  return strandedOn(host?.topology as BrokerTopology, expected, version);
}
