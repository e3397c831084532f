import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { checkSystem, compile, type TargetInput } from "../../src/index.ts";
import { resourcesOf, sumOf } from "../../src/compile/budget.ts";
import { prepare } from "../../src/consume/consume.ts";
import { anySystem } from "../support/arbitraries.ts";
import { forAll } from "../support/for-all.ts";

const targets: readonly TargetInput[] = [
  { broker: "rabbitmq", version: "4.3" },
  { broker: "rabbitmq", version: "4.0" },
  { broker: "rabbitmq", version: "3.10" },
  { broker: "sqs", region: "eu-west-1" },
  { broker: "servicebus", sku: "standard" },
];

const billing = {
  from: { orders: "all" },
  retry: { attempts: 4, backoff: { kind: "constant", delay: "1s" } },
  handlerTimeout: "10s",
};

function shop(limits?: object, consumers: object = { billing, shipping: billing }) {
  const sources = { orders: { kind: "fanout" } };
  return checkSystem({ name: "shop", sources, consumers, ...(limits === undefined ? {} : { limits }) });
}

function compiled(target: TargetInput, limits?: object, consumers?: object) {
  const system = shop(limits, consumers);
  return system.ok ? compile(system.value, target) : system;
}

describe.each(targets)("on %o", (target) => {
  test("a system at its budget has the same topology as without one, and one thing less refuses it", () => {
    const free = compiled(target);
    if (!free.ok) throw new Error("it is refused without a budget");
    const own = resourcesOf(free.value);
    const made = { queues: own["queues"] ?? 0, resources: sumOf(own) };
    expect(compiled(target, made)).toEqual(free);
    for (const field of ["queues", "resources"] as const) {
      const most = made[field] - 1;
      const refused = compiled(target, { ...made, [field]: most });
      if (refused.ok) throw new Error(`${field} beyond the budget are accepted`);
      expect(refused.diagnostics.map(({ code, severity, path }) => `${severity} ${code} ${path}`)).toEqual([
        `error RD223 limits.${field}`,
      ]);
      const of = field === "queues" ? "queues" : "resources of all kinds";
      expect(refused.diagnostics[0]?.message).toBe(
        `on ${free.value.target} the system has ${made[field]} ${of}; ${most} are allowed`,
      );
      expect(refused.diagnostics[0]?.help).toContain(`raise limits.${field} to ${made[field]}`);
    }
  });
});

test("the refusal names the strategies that need fewer, and advises only those that fit", () => {
  const target = { broker: "rabbitmq", version: "4.3", strategy: "staged" } as const;
  const said = (queues: number): { readonly notes: readonly string[]; readonly help: string | undefined } => {
    const refused = compiled(target, { queues });
    if (refused.ok) throw new Error("it is accepted");
    const { notes = [], help } = refused.diagnostics[0] ?? {};
    return { notes, help };
  };
  const notes = ["under native it would have 4", "under waits it would have 6"];
  const rest = "divide the system, or raise limits.queues to 8";
  expect(said(7)).toEqual({ notes, help: `use the strategy native or waits, or ${rest}` });
  expect(said(5)).toEqual({ notes, help: `use the strategy native, or ${rest}` });
  expect(said(3)).toEqual({ notes, help: rest });
});

test("both limits are reported at once", () => {
  const refused = compiled({ broker: "sqs", region: "eu-west-1" }, { queues: 1, resources: 1 });
  expect(refused.ok ? [] : refused.diagnostics.map(({ path }) => path)).toEqual(["limits.queues", "limits.resources"]);
});

test("a source that others own does not count", () => {
  const own = (owner: object): unknown => {
    const system = checkSystem({
      name: "shop",
      sources: { orders: { kind: "fanout", ...owner } },
      consumers: { billing },
      limits: { resources: 7 },
    });
    return system.ok && compile(system.value, { broker: "rabbitmq", version: "4.3" }).ok;
  };
  expect(own({ name: "orders", owner: "other" })).toBe(true);
  expect(own({})).toBe(false);
});

test.each([0, -1, 1.5, "500", null, Number.NaN])("a budget of %o is refused in the declaration", (queues) => {
  const checked = shop({ queues });
  expect(checked.ok ? [] : checked.diagnostics.map(({ path }) => path)).toEqual(["limits.queues"]);
});

test("a misspelled limit is refused, so that it cannot be without effect", () => {
  const checked = shop({ queue: 5 });
  expect(checked.ok ? [] : checked.diagnostics.map(({ code }) => code)).toEqual(["RD102"]);
});

test("a consumer that is deployed starts, although somebody lowered the budget", () => {
  const system = shop({ queues: 1 });
  if (!system.ok) throw new Error("the declaration is refused");
  const target = { broker: "rabbitmq", version: "4.3" } as const;
  expect(compile(system.value, target).ok).toBe(false);
  const prepared = prepare(system.value, "billing", { target, connection: { url: "amqp://127.0.0.1" } });
  expect(prepared.ok ? [] : prepared.diagnostics).toEqual([]);
});

test("a budget never changes a topology: any system is compiled as without it, or refused for it alone", () => {
  const seen = { accepted: 0, refused: 0 };
  forAll(100, [anySystem, fc.integer({ min: 1, max: 20 })], (input, queues) => {
    const free = checkSystem(input);
    const limited = checkSystem({ ...(input as object), limits: { queues } });
    fc.pre(free.ok && limited.ok);
    if (!free.ok || !limited.ok) return;
    const without = compile(free.value, { broker: "rabbitmq", version: "4.3" });
    fc.pre(without.ok);
    if (!without.ok) return;
    const within = compile(limited.value, { broker: "rabbitmq", version: "4.3" });
    const fits = without.value.topology.queues.length <= queues;
    seen[fits ? "accepted" : "refused"] += 1;
    if (fits) expect(within).toEqual(without);
    else expect(within.ok ? [] : within.diagnostics.map(({ code }) => code)).toEqual(["RD223"]);
  });
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(0);
});
