import fc from "fast-check";
import { expect, test } from "vitest";

import { movedDraft } from "../../src/adopt/moved-draft.ts";
import type { StrategyName } from "../../src/brokers/rabbitmq/compile/capabilities.ts";
import { RetryTopology } from "../../src/brokers/rabbitmq/make/index.ts";
import { importBlocksOf } from "../../src/deploy/terraform.ts";
import { brokers, compile, type CompiledSystem, type SystemInput } from "../../src/index.ts";
import { adoptedTopologies, exportOf } from "../support/adopted-topologies.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { accepted, checked } from "../support/examples.ts";
import { forAllAsync } from "../support/for-all.ts";
import { adoptText } from "../support/reported-by-adopt.ts";
import { runProgram } from "../support/pulumi.ts";
import { adoptedShapes as servicebusShapes, templateOfShape } from "../support/servicebus/adopted-shapes.ts";
import { adoptedShapes, listingOfShape } from "../support/sqs/adopted-shapes.ts";

type Values = Readonly<Record<string, unknown>>;
interface Exported extends Readonly<Record<"queues" | "exchanges" | "policies" | "bindings", readonly Values[]>> {}

const system = {
  name: "shop",
  sources: { orders: { kind: "topic" }, theirs: { kind: "fanout", name: "events", owner: "other" } },
  consumers: {
    billing: {
      from: { orders: ["order.#", "*.b c~d!(x)"], theirs: "all" },
      retry: { attempts: 4, backoff: { kind: "exponential", first: "1s", factor: 2 } },
    },
    mail: { retry: { attempts: 1, backoff: { kind: "immediate" } }, crash: { deliveries: 2 } },
  },
} as const satisfies SystemInput;

/** A hash of arguments, which only the broker computes. */
const keyOf = (index: number): string => `~hash${index}`;

/** The definitions of a deployed system, with the keys of bindings as a running broker gives them. */
function deployed(input: SystemInput, vhost: string): Exported {
  const target = { broker: "rabbitmq", version: "4.3", strategy: "staged" } as const;
  const compiled = accepted(compile(checked(input), target));
  const exported = exportedFrom(compiled, vhost);
  const exchanges = [...exported.exchanges, { name: "events", vhost, type: "fanout", durable: true, arguments: {} }];
  return { ...exported, exchanges };
}

function exportedFrom(compiled: CompiledSystem<"rabbitmq">, vhost: string): Exported {
  const exported = brokers.rabbitmq.exportFormats["definitions"]?.(compiled, vhost) as Exported;
  const bindings = exported.bindings.map((each, index) =>
    Object.keys(each["arguments"] as Values).length > 0 ? { ...each, properties_key: keyOf(index) } : each,
  );
  return { ...exported, bindings };
}

/**
 * The inputs that the provider reads for an id. Source: provider 3.3.8, `ReadQueue`, `ReadExchange`, `ReadPolicy` and
 * `ReadBinding`; docs of its resources, section "Import".
 */
function readBack(type: string, id: string, found: Exported): Values {
  const [, name = "", vhost = ""] = /^(.*)@([^@]*)$/.exec(id) ?? [];
  const named = (list: readonly Values[]): Values => {
    const one = list.find((each) => each["name"] === name && each["vhost"] === vhost);
    if (one === undefined) throw new Error(`there is no ${id}`);
    return one;
  };
  switch (type.split(":").at(-1)) {
    case "Queue": {
      const { durable, auto_delete: autoDelete, arguments: given } = named(found.queues);
      return { name, vhost, settings: { durable, autoDelete, ...argumentsRead(given as Values) } };
    }
    case "Exchange": {
      const { type: kind, durable, auto_delete: autoDelete, arguments: given } = named(found.exchanges);
      const texts = Object.keys(given as Values).length === 0 ? {} : { arguments: given };
      return { name, vhost, settings: { type: kind, durable, autoDelete, ...texts } };
    }
    case "Policy": {
      const { pattern, priority, "apply-to": applyTo, definition } = named(found.policies);
      const texts = Object.entries(definition as Values).map(([key, value]) => [key, String(value)]);
      return { name, vhost, policy: { pattern, priority, applyTo, definition: Object.fromEntries(texts) } };
    }
    default: {
      const [host = "", source, destination, destinationType, key = ""] = id.split("/");
      const binding = found.bindings.find((each) => {
        const own = each["properties_key"] ?? (each["routing_key"] === "" ? "~" : each["routing_key"]);
        const wanted = each["properties_key"] === undefined ? decodeURIComponent(key.replaceAll("+", " ")) : key;
        return each["source"] === source && each["destination"] === destination && own === wanted;
      });
      if (binding === undefined) throw new Error(`there is no ${id}`);
      return {
        vhost: host.replaceAll("%2F", "/").replaceAll("%25", "%"),
        source,
        destination,
        destinationType,
        routingKey: binding["routing_key"],
        ...argumentsRead(binding["arguments"] as Values),
      };
    }
  }
}

/** All texts become `arguments`. If one is none, all become `argumentsJson`. */
function argumentsRead(given: Values): Values {
  const values = Object.values(given);
  if (values.length === 0) return {};
  return values.every((each) => typeof each === "string")
    ? { arguments: given }
    : { argumentsJson: JSON.stringify(given) };
}

/** Equal JSON is no difference for the provider. */
function parsed(inputs: Values): Values {
  const { argumentsJson, settings, ...rest } = inputs;
  return {
    ...rest,
    ...(argumentsJson === undefined ? {} : { argumentsJson: JSON.parse(String(argumentsJson)) as unknown }),
    ...(settings === undefined ? {} : { settings: parsed(settings as Values) }),
  };
}

/**
 * Expects that the component declares each entry of the import file as the provider reads it.
 *
 * @returns the number of declared resources without an entry
 */
async function expectRead(found: Exported, vhost: string, version: string): Promise<number> {
  const adopted = adoptText(JSON.stringify({ vhosts: [{ name: vhost }], ...found }), `rabbitmq@${version}`);
  const { draft, imports, proved } = adopted;
  const { contracts } = proved.compiled as CompiledSystem<"rabbitmq">;
  const strategies = Object.fromEntries(contracts.map((each) => [each.consumer, each.strategy as StrategyName]));
  const target = { broker: "rabbitmq", version, strategies, ...draft.options } as const;
  const run = await runProgram(
    () => void new RetryTopology(draft.system.name, { system: checked(draft.system), target, vhost, imported: true }),
  );
  expect(run.error).toBeUndefined();
  const [component, ...imported] = imports.entries;
  expect(component).toMatchObject({ component: true, logicalName: draft.system.name });
  const parent = run.resources.find(({ type, custom }) => !custom && type === component?.type);
  const declared = run.resources.filter(({ custom }) => custom);
  expect(new Set(imports.entries.map(({ name }) => name)).size).toBe(imports.entries.length);
  for (const { type, logicalName, id = "", parent: below } of imported) {
    const resource = declared.find((each) => each.type === type && each.name === logicalName);
    expect(resource?.parent).toBe(parent?.urn);
    expect(below).toBe(component?.name);
    expect(parsed(readBack(type, id, found))).toEqual(parsed(resource?.inputs ?? {}));
  }
  return declared.length - imported.length;
}

test.for(["/", "a/b%c"])(
  "in %s the provider reads each imported resource as the component declares it",
  async (vhost) => expect(await expectRead(deployed(system, vhost), vhost, "4.3")).toBe(0),
);

test("the same of random systems on each version", async () => {
  const counts = { whole: 0, partly: 0 };
  const vhosts = fc.constantFrom("/", "a/b%c");
  await forAllAsync(60, [anySystem, anyTarget, vhosts], async (input, target, vhost) => {
    const compiled = compile(checked(input), target);
    fc.pre(compiled.ok);
    const exported = exportedFrom(compiled.value as CompiledSystem<"rabbitmq">, vhost);
    const added = await expectRead(exported, vhost, target.version);
    counts[added === 0 ? "whole" : "partly"]++;
  });
  expect(counts.whole).toBeGreaterThan(3);
});

test.for(Object.entries(adoptedTopologies))(
  "%s: the moved system has as many new resources as adopt says",
  async ([, topology]) => {
    const { draft, imports, added } = adoptText(exportOf(topology));
    const moved = movedDraft(draft, imports.moves);
    const target = { broker: "rabbitmq", version: "4.3", ...moved.options } as const;
    const run = await runProgram(() => void new RetryTopology("shop", { system: checked(moved.system), target }));
    expect(run.error).toBeUndefined();
    expect(run.resources.filter(({ custom }) => custom).length).toBe(added + imports.entries.length - 1);
  },
);

/** The resources of a Terraform file, by address. */
function terraformed(
  broker: "rabbitmq" | "sqs" | "servicebus",
  compiled: unknown,
  vhost: string,
): ReadonlyMap<string, Values> {
  const written = brokers[broker].exportFormats["terraform"]?.(compiled as never, vhost) as
    | { readonly resource: Readonly<Record<string, Readonly<Record<string, Values>>>> }
    | undefined;
  return new Map(
    Object.entries(written?.resource ?? {}).flatMap(([type, own]) =>
      Object.entries(own).map(([name, args]) => [`${type}.${name}`, args] as const),
    ),
  );
}

test.for(["/", "a/b%c"])(
  "in %s each import block takes over a resource of the Terraform file, with its arguments where the provider reads them",
  (vhost) => {
    const found = deployed(system, vhost);
    const { imports, draft, terraformType } = adoptText(JSON.stringify({ vhosts: [{ name: vhost }], ...found }));
    const target = { broker: "rabbitmq", version: "4.3", strategy: "staged" } as const;
    const declared = terraformed("rabbitmq", accepted(compile(checked(draft.system), target)), vhost);
    const addresses = [...declared.keys()].filter((address) => !address.startsWith("terraform_data."));
    expect(
      importBlocksOf(imports.entries, terraformType)
        .map(({ to }) => to)
        .toSorted(),
    ).toEqual(addresses.toSorted());
    const where = (values: Values) => (values["settings"] ?? values["policy"] ?? values) as Values;
    for (const [index, { to, id }] of importBlocksOf(imports.entries, terraformType).entries()) {
      const { type, id: pulumiId } = imports.entries[index + 1] ?? expect.unreachable();
      const read = where(readBack(type, id, found));
      const { arguments: texts, arguments_json: json } = where(declared.get(to) ?? {});
      expect([texts, json], to).toEqual([read["arguments"], read["argumentsJson"]]);
      expect(id).toBe(pulumiId);
    }
  },
);

test("on SQS each import block takes over a resource of the Terraform file", () => {
  const shape = adoptedShapes()["a topic with filters for each queue"] ?? expect.unreachable();
  const allow = JSON.stringify({ redrivePermission: "allowAll" });
  const listing = JSON.stringify(listingOfShape(shape)).replaceAll(
    '"Attributes":{"QueueArn"',
    `"Attributes":{"RedriveAllowPolicy":${JSON.stringify(allow)},"QueueArn"`,
  );
  const { imports, draft, terraformType } = adoptText(listing, "sqs@eu-west-1", "shop", "sqs");
  const target = { broker: "sqs", region: "eu-west-1", ...draft.options } as const;
  const declared = terraformed("sqs", accepted(compile(checked(draft.system), target)), "/");
  const blocks = importBlocksOf(imports.entries, terraformType);
  expect(new Set(blocks.map(({ to }) => to.split(".")[0]))).toContain("aws_sqs_queue_redrive_allow_policy");
  for (const { to } of blocks) expect([...declared.keys()]).toContain(to);
});

test("on Service Bus each import block takes over a resource of the Terraform file", () => {
  const template = templateOfShape(servicebusShapes["a topic that forwards to a queue by labels"] as never);
  const { imports, draft, terraformType } = adoptText(template, "servicebus@standard", "shop", "servicebus");
  const compiled = accepted(compile(checked(draft.system), { broker: "servicebus", sku: "standard" }));
  const declared = [...terraformed("servicebus", compiled, "/").keys()];
  const blocks = importBlocksOf(imports.entries, terraformType);
  expect(blocks.length).toBeGreaterThan(2);
  for (const { to } of blocks) expect(declared).toContain(to);
  // Nothing takes over `$Default`, which only changes.
  expect(declared.some((address) => address.startsWith("azapi_update_resource."))).toBe(true);
  expect(blocks.length).toBe(imports.entries.filter(({ type }) => !/RetryTopology|DefaultRule/.test(type)).length);
});

test("a resource that is there otherwise is no entry, and the reason names both values", () => {
  const found = deployed(system, "/");
  const queues = found.queues.map((each) =>
    each["name"] === "shop.billing.dead" ? { ...each, arguments: { "x-queue-type": "classic" } } : each,
  );
  const headers = found.bindings.map(({ properties_key: _hash, ...each }) => each);
  const { entries, left } = adoptText(
    JSON.stringify({ vhosts: [{ name: "/" }], ...found, queues, bindings: headers }),
  ).imports;
  expect(entries.map(({ logicalName, type }) => `${type} ${logicalName}`)).not.toContain(
    "rabbitmq:index/queue:Queue shop-shop.billing.dead",
  );
  const [dead, ...rest] = left;
  expect(dead).toMatchObject({
    place: "queue shop.billing.dead",
    fact: expect.stringContaining('x-queue-type is "classic"') as unknown,
  });
  expect(rest.every(({ fact }) => fact.includes("read it with --url"))).toBe(true);
  expect(rest.length).toBeGreaterThan(3);
});
