import { execFile, execFileSync } from "node:child_process";
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, test } from "vitest";

import { brokers, compile, type TargetInput } from "../../src/index.ts";
import { accepted, checked } from "../support/examples.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder("terraform");

interface Configuration {
  readonly terraform: { readonly required_providers: Record<string, { version: string }> };
  readonly resource: Record<string, Record<string, Record<string, unknown>>>;
}

const retry = { attempts: 3, backoff: { kind: "constant", delay: "20s" } };
const consumer = (more: object = {}) => ({ from: { orders: ["order.placed"] }, retry, handlerTimeout: "30s", ...more });

function exported(consumers: Readonly<Record<string, object>>, target: TargetInput): Configuration {
  const compiled = accepted(
    compile(checked({ name: "shop", sources: { orders: { kind: "topic" } }, consumers }), target),
  );
  const { exportFormats } = brokers[target.broker];
  const written = exportFormats["terraform"]?.(compiled as never, "/");
  return JSON.parse(JSON.stringify(written)) as Configuration;
}

const resourcesOf = ({ resource }: Configuration) =>
  Object.entries(resource).flatMap(([type, own]) =>
    Object.entries(own).map(([name, args]) => ({ type, address: `${type}.${name}`, args })),
  );

const rabbitmq = { broker: "rabbitmq", version: "4.0", strategy: "staged" } as const;
const sqs = { broker: "sqs", region: "eu-west-1" } as const;

test.each([rabbitmq, sqs])("another consumer on $broker changes no resource of the first", (target) => {
  const ofBilling = (configuration: Configuration) =>
    resourcesOf(configuration).filter(({ type, address }) => type !== "terraform_data" && /billing/.test(address));
  const before = ofBilling(exported({ billing: consumer() }, target));
  expect(before.length).toBeGreaterThan(4);
  expect(ofBilling(exported({ accounts: consumer(), billing: consumer() }, target))).toEqual(before);
});

test("the policy of a queue that exists without arguments comes after its ways out, and before the ways in", () => {
  const resources = resourcesOf(exported({ billing: consumer({ queueSettings: "policy" }) }, rabbitmq));
  const needs = new Map(resources.map(({ address, args }) => [address, (args["depends_on"] ?? []) as string[]]));
  const isBefore = (one: string, other: string): boolean =>
    (needs.get(other) ?? []).some((each) => each === one || isBefore(one, each));
  const policyOf = (name: string): string =>
    resources.find(({ type, args }) => type === "rabbitmq_policy" && args["name"] === name)?.address ??
    expect.unreachable();
  const bindings = resources.filter(({ type }) => type === "rabbitmq_binding");
  const [entries, ways] = [true, false].map((isEntry) =>
    bindings.filter(({ args }) => String(args["source"]).includes("shop_orders") === isEntry),
  );
  expect(entries).toHaveLength(1);
  expect(ways?.length).toBeGreaterThan(5);
  const own = policyOf("shop.billing");
  for (const { address } of ways ?? []) expect([address, isBefore(address, own)]).toEqual([address, true]);
  expect(isBefore(policyOf("shop.billing.failed"), own)).toBe(true);
  for (const { address } of entries ?? []) expect(isBefore(own, address)).toBe(true);
});

/** The arguments of cyrilgdn/rabbitmq, by the schemas in its source. No test here runs that provider. */
const documented: Readonly<Record<string, readonly [required: readonly string[], optional: readonly string[]]>> = {
  rabbitmq_queue: [["name", "settings"], ["vhost"]],
  rabbitmq_exchange: [["name", "settings"], ["vhost"]],
  rabbitmq_policy: [["name", "vhost", "policy"], []],
  rabbitmq_binding: [
    ["source", "vhost", "destination", "destination_type"],
    ["routing_key", "arguments", "arguments_json"],
  ],
  terraform_data: [[], ["input", "triggers_replace"]],
};
const nested: Readonly<Record<string, readonly string[]>> = {
  rabbitmq_queue: ["durable", "auto_delete", "arguments", "arguments_json"],
  rabbitmq_exchange: ["type", "durable", "auto_delete", "arguments"],
  rabbitmq_policy: ["pattern", "priority", "apply_to", "definition"],
};

describe.each(["staged", "native", "deferred"] as const)("on RabbitMQ under %s", (strategy) => {
  const version = strategy === "staged" ? "4.0" : "4.3";
  const more = strategy === "deferred" ? { protocol: "amqp-1.0" } : {};
  const all = resourcesOf(
    exported({ billing: consumer(more), mail: consumer(more) }, { ...rabbitmq, version, strategy }),
  );

  test("every argument is documented", () => {
    for (const { type, address, args } of all) {
      const [required, optional] = documented[type] ?? [[], []];
      const known = new Set([...required, ...optional, "depends_on", "lifecycle"]);
      expect(Object.keys(args), address).toEqual(expect.arrayContaining([...required]));
      expect(
        Object.keys(args).filter((key) => !known.has(key)),
        address,
      ).toEqual([]);
      const inner = Object.keys((args["settings"] ?? args["policy"] ?? {}) as object);
      expect(
        inner.filter((key) => nested[type]?.includes(key) !== true),
        address,
      ).toEqual([]);
    }
  });

  test("the bindings of sources wait for all other resources, and nothing waits in a circle", () => {
    const byAddress = new Map(all.map(({ address, args }) => [address, args]));
    const reach = (address: string, path: readonly string[] = []): readonly string[] => {
      expect(path).not.toContain(address);
      const args = byAddress.get(address);
      if (args === undefined) throw new Error(`${path.at(-1)} waits for ${address}, which is not there`);
      const named = (JSON.stringify(args).match(/\$\{[\w.-]+\}/g) ?? []).map((each) =>
        each.slice(2, each.lastIndexOf(".")),
      );
      const next = [...named, ...((args["depends_on"] ?? []) as readonly string[])];
      return next.flatMap((each) => [each, ...reach(each, [...path, address])]);
    };
    const isEntrance = ({ type, args }: (typeof all)[number]): boolean =>
      type === "rabbitmq_binding" && /shop_orders_[0-9a-f]+\.name/.test(String(args["source"]));
    const others = all.filter((each) => !isEntrance(each) && !/shop_orders/.test(each.address));
    const entrances = all.filter(isEntrance);
    expect(entrances).toHaveLength(2);
    for (const { address } of entrances) {
      const reached = new Set(reach(address));
      expect(others.map((each) => each.address).filter((each) => !reached.has(each))).toEqual([]);
    }
  });

  test("resources that every message needs are protected", () => {
    const open = all.filter(({ type, args }) => type === "rabbitmq_queue" && args["lifecycle"] === undefined);
    const queues = all.filter(({ type }) => type === "rabbitmq_queue");
    expect(queues.length - open.length).toBeGreaterThanOrEqual(4);
    expect(open.every(({ args }) => !/^shop\.(billing|mail)(\.dead)?$/.test(String(args["name"])))).toBe(true);
  });
});

/** A mirror with providers, as `terraform providers mirror` makes it. */
const plugins = process.env["TF_PLUGINS"] ?? "/opt/tf-plugins";
const [awsProvider] = globSync("*/hashicorp/aws/*", { cwd: plugins }).toSorted();

function hasTerraform(): boolean {
  try {
    execFileSync("terraform", ["version"], { stdio: "ignore" });
    return awsProvider !== undefined;
  } catch {
    return false;
  }
}

/**
 * A provider before 6.8 knows neither a region on a resource nor messages of 1 MiB. If the one that is here is older,
 * it validates the rest.
 */
function suiting(configuration: Configuration, version: string): Configuration {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  for (const { args } of resourcesOf(configuration)) {
    if (major >= 7 || (major === 6 && minor >= 8)) break;
    expect(args["region"]).toBe("eu-west-1");
    delete args["region"];
    if (args["max_message_size"] === 1_048_576) args["max_message_size"] = 262_144;
  }
  return {
    ...configuration,
    terraform: { required_providers: { aws: { source: "hashicorp/aws", version } as never } },
  };
}

test.skipIf(!hasTerraform())(
  "terraform validate accepts what the provider of AWS gets, also texts that look like templates",
  { timeout: 400_000 },
  async () => {
    const configuration = exported(
      {
        billing: consumer({ from: { orders: ["order.placed", "order.#", "${aws_sqs_queue.none.arn}", "%{ if"] } }),
        direct: { retry, handlerTimeout: "30s", deadLetter: { retain: "7d", alarmAbove: 0 } },
        inOrder: consumer({ order: "per-key" }),
      },
      { ...sqs, lambda: { direct: { function: "direct", timeout: "30s", maximumConcurrency: 5 } } },
    );
    expect(Object.keys(configuration.resource).toSorted()).toEqual([
      "aws_cloudwatch_metric_alarm",
      "aws_lambda_event_source_mapping",
      "aws_sns_topic",
      "aws_sns_topic_subscription",
      "aws_sqs_queue",
      "aws_sqs_queue_policy",
      "aws_sqs_queue_redrive_allow_policy",
    ]);
    const file = join(folder, "main.tf.json");
    writeFileSync(file, JSON.stringify(suiting(configuration, awsProvider?.split("/").at(-1) ?? "")));
    const { TF_CLI_CONFIG_FILE: _, ...env } = process.env;
    const terraform = async (...words: readonly string[]): Promise<string> => {
      const { stdout } = await promisify(execFile)("terraform", [...words], { cwd: folder, env });
      return stdout;
    };
    await terraform("init", `-plugin-dir=${plugins}`, "-input=false");
    expect(JSON.parse(await terraform("validate", "-json"))).toMatchObject({ valid: true, diagnostics: [] });
    // The same test refuses a name that the provider does not know.
    const [queue] = Object.values(configuration.resource["aws_sqs_queue"] ?? {});
    if (queue === undefined) throw new Error("no queue");
    queue["visibility_timeout"] = 3;
    writeFileSync(file, JSON.stringify(configuration));
    await expect(terraform("validate", "-json")).rejects.toThrow();
  },
);
