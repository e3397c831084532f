import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ComponentProvider } from "@pulumi/pulumi/provider/experimental/provider.js";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { RetryTopology, type RetryTopologyArgs } from "../../plugin/index.ts";
import { resourcesOf, runProgram } from "../support/pulumi.ts";

const root = resolve(import.meta.dirname, "../..");

interface Example {
  readonly resources: { readonly shop: { readonly properties: RetryTopologyArgs } };
}
const example = parse(readFileSync(resolve(root, "examples/yaml/Pulumi.yaml"), "utf8")) as Example;
const { shop } = example.resources;

test("Pulumi infers the schema of the plugin, and the program in YAML fits it", async () => {
  const provider = new ComponentProvider({
    name: "redeliver",
    dirname: resolve(root, "plugin"),
    components: [RetryTopology],
  });
  const { resources, types } = JSON.parse(await provider.getSchema()) as {
    readonly resources: Readonly<Record<string, { readonly inputProperties: object }>>;
    readonly types: Readonly<Record<string, unknown>>;
  };
  expect(resources).toMatchObject({
    "redeliver:index:RetryTopology": {
      isComponent: true,
      requiredInputs: ["system", "target"],
      inputProperties: {
        system: { $ref: "pulumi.json#/Any" },
        target: { $ref: "#/types/redeliver:index:Target", plain: true },
        vhost: { type: "string" },
        owner: { type: "string", plain: true },
      },
      properties: { workQueues: { type: "object", additionalProperties: { type: "string" } } },
    },
  });
  expect(types["redeliver:index:Target"]).toMatchObject({
    required: ["broker", "version"],
    properties: {
      strategies: { type: "object", additionalProperties: { type: "string", plain: true } },
      since: { type: "string", plain: true },
      policies: { $ref: "pulumi.json#/Any" },
    },
  });
  const { inputProperties } = resources["redeliver:index:RetryTopology"] ?? { inputProperties: {} };
  expect(Object.keys(inputProperties)).toEqual(expect.arrayContaining(Object.keys(shop.properties)));
});

test("the plugin registers the component of the library", async () => {
  const run = await runProgram(() => {
    const { workQueues } = new RetryTopology("shop", { ...shop.properties, vhost: "a vhost" });
    return { workQueues };
  });
  expect(run.error).toBeUndefined();
  expect(run.outputs).toEqual({ workQueues: { billing: "shop.billing" } });
  const [component] = resourcesOf(run, "RetryTopology");
  expect(component).toMatchObject({ type: "redeliver:index:RetryTopology", inputs: { target: { version: "4.3" } } });
  const queues = resourcesOf(run, "Queue");
  expect(queues.map(({ parent }) => parent)).toEqual(queues.map(() => component?.urn));
});

test("the plugin's target has the policies of others, and the component proves with them", async () => {
  const policies = [
    { name: "cap", kind: "operator", pattern: "^shop", applyTo: "queues", definition: { "max-length": 10 } },
  ];
  const target = { ...shop.properties.target, policies };
  const run = await runProgram(() => ({ shop: new RetryTopology("shop", { ...shop.properties, target }).urn }));
  expect(String(run.error)).toContain("RD242");
});
