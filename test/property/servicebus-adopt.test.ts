import fc from "fast-check";
import { expect, test } from "vitest";

import { compileAndProve } from "../../src/compile/compile.ts";
import { checkSystem, type CompiledSystem, type SystemInput, type TargetInput } from "../../src/index.ts";
import { forAll } from "../support/for-all.ts";
import { adoptText } from "../support/reported-by-adopt.ts";
import { anyServicebusDeclaration, anyServicebusTarget, declaredFor } from "../support/servicebus-declarations.ts";
import { armTemplateOf } from "../support/servicebus/arm-template.ts";

type Topology = CompiledSystem<"servicebus">["topology"];

/** The resources in one order, without the roles and the names of sources that only a compiler knows. */
function resourcesOf({ queues, topics, subscriptions }: Topology): readonly string[] {
  const all = [
    ...queues.map(({ role, ...each }) => ({ ...each, role: role === "tier" ? "tier" : "" })),
    // Nothing shows whose a topic without a subscription is, so it is left alone.
    ...topics.flatMap(({ source: _source, ...each }) =>
      subscriptions.some(({ topic }) => topic === each.name) ? [each] : [],
    ),
    ...subscriptions,
  ];
  return all.map((each) => JSON.stringify(each)).toSorted();
}

interface Drawn extends Pick<SystemInput, "consumers"> {}

/** Every consumer of a drawn declaration in another way. */
const changed = (change: (consumer: object) => object, target: Partial<TargetInput<"servicebus">> = {}) =>
  declaredFor("immediate").map(([declaration, own]) => {
    const { consumers, ...rest } = declaration as Drawn;
    const all = Object.entries(consumers).map(([name, each]) => [name, change(each)]);
    return [
      { ...rest, consumers: Object.fromEntries(all) as object },
      { ...own, ...target },
    ] as const;
  });
const inOrder = changed((each) => ({ ...each, order: "per-key", crash: undefined }));
const onBasic = changed((each) => ({ ...each, from: undefined }), { sku: "basic", deadQueue: "own" });

const drawn = fc.oneof(
  { arbitrary: fc.tuple(anyServicebusDeclaration, anyServicebusTarget), weight: 1 },
  { arbitrary: declaredFor("immediate"), weight: 1 },
  { arbitrary: declaredFor("ttl-tier"), weight: 1 },
  { arbitrary: inOrder, weight: 1 },
  // Few declarations fit the basic tier.
  { arbitrary: onBasic, weight: 4 },
);

test("each compiled system comes back as it was", () => {
  const counts = { compiled: 0, sessions: 0, tiers: 0, filters: 0, shared: 0, basic: 0 };
  forAll(500, [drawn], ([input, target]) => {
    const system = checkSystem(input);
    const proved = system.ok ? compileAndProve<"servicebus">(system.value, target) : system;
    if (!proved.ok) return;
    const { compiled } = proved.value;
    const { topology } = compiled;
    const adopted = adoptText(armTemplateOf(compiled), `servicebus@${target.sku}`, "shop", "servicebus");
    expect(adopted.refused).toEqual([]);
    expect(resourcesOf(adopted.proved.compiled.topology as Topology)).toEqual(resourcesOf(topology));
    counts.compiled++;
    if (topology.subscriptions.some(({ requiresSession }) => requiresSession)) counts.sessions++;
    if (topology.queues.some(({ role }) => role === "tier")) counts.tiers++;
    if (topology.subscriptions.some(({ rules }) => rules.length > 1)) counts.filters++;
    if (topology.queues.some(({ role, consumer }) => role === "dead" && consumer === null)) counts.shared++;
    if (target.sku === "basic") counts.basic++;
  });
  expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(3);
});
