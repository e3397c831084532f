import fc from "fast-check";

import { checkSystem, compile, type System, type Topology } from "../../../src/index.ts";
import type { Deployment } from "./registered.ts";

const keys = ["order.placed", "order.cancelled", "order.*", "#"];

/** Some templates have the system's name in them, and some would be the same in two systems. */
const names = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  { queue: "q-{consumer}" },
  { dead: "dlq-{consumer}" },
  { source: "events-{source}" },
  { queue: "{consumer}-of-{system}", dead: "{system}-lost-{consumer}" },
);

const consumer = (sources: readonly string[]): fc.Arbitrary<object> =>
  fc.record({
    from: fc.uniqueArray(fc.constantFrom(...sources), { maxLength: 2 }).chain((own) =>
      fc
        .tuple(...own.map(() => fc.uniqueArray(fc.constantFrom(...keys), { minLength: 1, maxLength: 2 })))
        // Without a source producers send straight to the work queue.
        .map((lists) =>
          own.length === 0 ? undefined : Object.fromEntries(own.map((source, index) => [source, lists[index]])),
        ),
    ),
    queue: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, "legacy"),
    retry: fc.record({
      attempts: fc.integer({ min: 1, max: 5 }),
      backoff: fc.constantFrom(
        { kind: "constant", delay: "1s" },
        { kind: "exponential", first: "1s", factor: 2, max: "10s" },
        { kind: "exponential", first: "2s", factor: 2, jitter: "20%" },
        { kind: "immediate" },
      ),
    }),
  });

const anySystem: fc.Arbitrary<object> = fc
  .uniqueArray(fc.constantFrom("orders", "sales"), { minLength: 1, maxLength: 2 })
  .chain((sources) =>
    fc.record({
      name: fc.constantFrom("shop", "shop", "shop", "store"),
      names,
      sources: fc
        .tuple(...sources.map(() => fc.constantFrom("topic", "topic", "topic", "direct")))
        .map((kinds) => Object.fromEntries(sources.map((source, index) => [source, { kind: kinds[index] }]))),
      consumers: fc
        .uniqueArray(fc.constantFrom("billing", "mail", "audit"), { minLength: 1, maxLength: 2 })
        .chain((names) =>
          fc
            .tuple(...names.map(() => consumer(sources)))
            .map((made) => Object.fromEntries(names.map((name, index) => [name, made[index]]))),
        ),
    }),
  );

/** A deployment that compiles. */
export const anyDeployment: fc.Arbitrary<Deployment> = fc
  .record({
    component: fc.constantFrom("shop", "shop", "shop", "other"),
    vhost: fc.constantFrom("/", "/", "/", "/", "there"),
    system: anySystem,
    version: fc.constantFrom("4.3", "4.3", "4.0", "3.10"),
    strategy: fc.constantFrom("auto", "auto", "staged", "waits", "native"),
  })
  .map((drawn): Deployment | null => {
    const system = checkSystem(drawn.system as System);
    if (!system.ok) return null;
    const deployment = { ...drawn, system: system.value } as Deployment;
    return topologyOf(deployment) === null ? null : deployment;
  })
  .filter((each) => each !== null);

type Plain = Record<string, Record<string, Record<string, unknown>>>;

/** The changes of a person to a declaration or a program. New values come from `other`. */
const edits: Readonly<Record<string, (last: Deployment, other: Deployment) => Partial<Deployment>>> = {
  everything: (_, other) => other,
  component: () => ({ component: "renamed" }),
  vhost: () => ({ vhost: "elsewhere" }),
  strategy: (_, { strategy }) => ({ strategy }),
  version: (_, { version }) => ({ version }),
  "name of the system": ({ system }) => ({ system: { ...system, name: "store" } }),
  "templates for names": ({ system }, other) => ({ system: { ...system, names: other.system.names } as System }),
  "name of a queue": (last, other) => consumersOf(last, (own) => ({ ...own, queue: firstOf(other)["queue"] })),
  "routing keys": (last, other) => consumersOf(last, (own) => ({ ...own, from: keysLike(own, other) })),
  retry: (last, other) => consumersOf(last, (own) => ({ ...own, retry: firstOf(other)["retry"] })),
  attempts: (last, other) => {
    const { attempts } = firstOf(other)["retry"] as { readonly attempts: number };
    return consumersOf(last, (own) => ({ ...own, retry: { ...(own["retry"] as object), attempts } }));
  },
  "a consumer more": (last, other) => withConsumers(last, { ...consumersIn(last), late: firstOf(other) }),
  "a consumer less": (last) => withConsumers(last, Object.fromEntries(Object.entries(consumersIn(last)).slice(1))),
  "name of a consumer": (last) =>
    withConsumers(
      last,
      Object.fromEntries(
        Object.entries(consumersIn(last)).map(([name, own], index) => [index === 0 ? "late" : name, own]),
      ),
    ),
  "name of a queue, and retries of the others": (last, other) => {
    const { queue, retry } = firstOf(other);
    const own = Object.entries(consumersIn(last)).map(([name, each], index) => [
      name,
      index === 0 ? { ...each, queue } : { ...each, retry },
    ]);
    return withConsumers(last, Object.fromEntries(own));
  },
  "templates for names, and a consumer less": (last, other) => {
    const { system } = { ...last, ...edits["a consumer less"]?.(last, other) };
    return { system: { ...system, names: other.system.names } as System };
  },
  "name of a source": (last) => {
    const system = JSON.parse(JSON.stringify(last.system).replaceAll('"orders"', '"sales"')) as System;
    return { system };
  },
  "kind of a source": ({ system }) => ({
    system: {
      ...system,
      sources: Object.fromEntries(Object.keys(system.sources).map((name) => [name, { kind: "direct" }])),
    } as System,
  }),
};

/** Changes of names that leave queues to consumers of other names, as `formerly` says. */
const renames: typeof edits = {
  "name of a consumer that keeps its queue": (last) => renamed(last, "late"),
  "an earlier name for another consumer": (last, other) => {
    const [[name, first] = ["", {}], ...others] = Object.entries(consumersIn(last));
    const late = { ...firstOf(other), queue: undefined };
    return withConsumers(last, {
      ...Object.fromEntries(others),
      [name]: { ...first, queue: "another" },
      [String(first["formerly"] ?? "late")]: late,
    });
  },
};

/** The last deployment, in which the first consumer has another name and the same queue. */
export function renamed(last: Deployment, name: string): Partial<Deployment> {
  const own = Object.entries(consumersIn(last)).map(([key, each], index) =>
    index === 0 ? [name, { formerly: key, ...each }] : [key, each],
  );
  return withConsumers(last, Object.fromEntries(own));
}

function consumersIn({ system }: Deployment): Plain[string] {
  return system.consumers as unknown as Plain[string];
}

function firstOf(deployment: Deployment): Record<string, unknown> {
  return Object.values(consumersIn(deployment))[0] ?? {};
}

function withConsumers({ system }: Deployment, consumers: object): Partial<Deployment> {
  return { system: { ...system, consumers } as System };
}

function consumersOf(last: Deployment, edit: (own: Record<string, unknown>) => object): Partial<Deployment> {
  return withConsumers(
    last,
    Object.fromEntries(Object.entries(consumersIn(last)).map(([name, own]) => [name, edit(own)])),
  );
}

/** The same sources with other keys, or none if the other consumer has none. */
function keysLike(own: Record<string, unknown>, other: Deployment): object | undefined {
  const [taken] = Object.values(firstOf(other)["from"] ?? {}) as unknown[];
  if (taken === undefined || own["from"] === undefined) return undefined;
  return Object.fromEntries(Object.keys(own["from"] as object).map((source) => [source, taken]));
}

/** The last deployment with one change; null if nothing would compile. */
export function edited(last: Deployment, edit: string, other: Deployment): Deployment | null {
  const changed = { ...last, ...{ ...edits, ...renames }[edit]?.(last, other) };
  const system = checkSystem(JSON.parse(JSON.stringify(changed.system)) as System);
  if (!system.ok) return null;
  const deployment = { ...changed, system: system.value };
  return topologyOf(deployment) === null ? null : deployment;
}

export const editNames: readonly string[] = Object.keys(edits);
export const renameNames: readonly string[] = Object.keys(renames);

/** Null if it does not compile. */
export function topologyOf({ system, version, strategy }: Deployment): Topology | null {
  const compiled = compile(system, { broker: "rabbitmq", version, strategy });
  return compiled.ok ? compiled.value.topology : null;
}
