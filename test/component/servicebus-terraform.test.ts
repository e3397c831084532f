import { readFileSync } from "node:fs";

import { expect, test } from "vitest";
import { parse } from "yaml";

import { brokers, type System, type SystemInput, type TargetInput } from "../../src/index.ts";
import { checked, oneConsumer } from "../support/examples.ts";
import { compileServicebus, namespaceId, registerServicebus } from "../support/servicebus/register.ts";

type Values = Readonly<Record<string, unknown>>;
interface Written extends Values {
  readonly name: string;
  readonly parent_id: string;
  readonly body: { readonly properties: Values };
  readonly lifecycle?: object;
  readonly depends_on?: readonly string[];
}

const target = { broker: "servicebus", sku: "standard" } as const;
const portable = checked(parse(readFileSync(new URL("../../examples/portable.yaml", import.meta.url), "utf8")));
const timed = { handlerTimeout: "10s", deadLetter: { alarmAbove: 0 } } as const;
const atOnce = { attempts: 3, backoff: { kind: "immediate" } };
const constant = { attempts: 3, backoff: { kind: "constant", delay: "30s" } } as const;
const foreign = {
  name: "shop",
  sources: { theirs: { kind: "topic", name: "events", owner: "other" } },
  consumers: { billing: { from: { theirs: ["order.*"] }, retry: constant, ...timed } },
} as const satisfies SystemInput;
const systems: readonly (readonly [string, System, TargetInput<"servicebus">])[] = [
  ["queues behind topics", portable, target],
  ["sessions", checked(oneConsumer({ ...timed, retry: atOnce, order: "per-key" })), target],
  ["one dead queue and duplicate detection", portable, { ...target, deadQueue: "shared", duplicates: "10m" }],
  ["tiers", checked(oneConsumer({ ...timed, retry: constant })), { ...target, strategy: "ttl-tier" }],
  ["the topic of another owner", checked(foreign), target],
];

/** The resources by address, with each reference resolved as Terraform does it. */
function terraformed(system: System, to: TargetInput<"servicebus">): ReadonlyMap<string, Written> {
  const written = brokers.servicebus.exportFormats["terraform"]?.(compileServicebus(system, to), null) as
    | { readonly resource: Readonly<Record<string, Readonly<Record<string, Written>>>> }
    | undefined;
  const all = new Map(
    Object.entries(written?.resource ?? {}).flatMap(([type, own]) =>
      Object.entries(own).map(([name, args]) => [`${type}.${name}`, args] as const),
    ),
  );
  const kinds = (args: Written): string => String(args["type"]).split("@")[0]?.split("/").at(-1) ?? "";
  const idOf = (args: Written): string => `${resolved(args.parent_id)}/${kinds(args)}/${args.name}`;
  const resolved = (text: string): string =>
    text
      .replaceAll("${var.namespace_id}", namespaceId)
      .replaceAll(/\$\{([\w.-]+)\.(name|id)\}/g, (_, address, what) => {
        const other = all.get(address as `${string}.${string}`) ?? expect.unreachable(`${address} is not there`);
        return what === "id" ? idOf(other) : other.name;
      });
  const whole = (value: unknown): unknown => {
    if (typeof value === "string") return resolved(value);
    if (Array.isArray(value)) return value.map(whole);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, whole(each)]));
  };
  return new Map([...all].map(([address, args]) => [address, whole(args) as Written]));
}

const placing = new Set([
  "resourceGroupName",
  "namespaceName",
  "queueName",
  "topicName",
  "subscriptionName",
  "ruleName",
  "location",
]);
const kindOf: Readonly<Record<string, string>> = { DefaultRule: "azapi_update_resource" };

test.for(systems)(
  "%s: Terraform's file has each resource of the component, with the same properties and protection",
  async ([, system, to]) => {
    const run = await registerServicebus(system, to);
    const declared = run.resources.filter(({ custom }) => custom);
    const written = terraformed(system, to);
    expect(written.size).toBe(declared.length);
    for (const { type, inputs, protect } of declared) {
      const kind = type.split(":").at(-1) ?? "";
      const parts = ["topicName", "subscriptionName", "queueName", "ruleName"].flatMap((key) => inputs[key] ?? []);
      const name = kind === "DefaultRule" ? "$Default" : String(parts.at(-1));
      const found = [...written].find(
        ([address, each]) =>
          each.name === name &&
          address.startsWith(kindOf[kind] ?? "azapi_resource") &&
          parts.every((part) => `${each.parent_id}/${each.name}`.split("/").includes(String(part))),
      );
      const [, args] = found ?? expect.unreachable(`there is no ${kind} ${name}`);
      const properties = Object.fromEntries(Object.entries(inputs).filter(([key]) => !placing.has(key)));
      const { actions, criteria, ...rest } = args.body.properties;
      const { odataType, ...conditions } = (properties["criteria"] ?? {}) as Values;
      if (kind === "MetricAlert") {
        expect(criteria).toEqual({ "odata.type": odataType, ...conditions });
        expect(actions).toBe("${[for id in var.action_group_ids : { actionGroupId = id }]}");
        for (const key of ["criteria", "actions"]) delete properties[key];
      }
      expect(rest, name).toEqual(properties);
      expect(args.lifecycle, name).toEqual(protect === true ? { prevent_destroy: true } : undefined);
    }
  },
);

test.for(systems)("%s: a subscription waits for each queue of its consumer", ([, system, to]) => {
  const { topology } = compileServicebus(system, to);
  const written = terraformed(system, to);
  for (const { consumer, name } of topology.subscriptions) {
    const [, args] =
      [...written].find(([, each]) => each.name === name && String(each["type"]).includes("/subscriptions@")) ?? [];
    const waited = (args?.depends_on ?? []).map((address) => written.get(address)?.name);
    const ways = topology.queues.filter((each) => each.consumer === consumer || each.consumer === null);
    expect(waited.toSorted()).toEqual(ways.map((each) => each.name).toSorted());
  }
});
