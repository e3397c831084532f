import { fileURLToPath, pathToFileURL } from "node:url";

import { expect, test } from "vitest";

import { partitionOf, partitions } from "../../src/brokers/sqs/compile/regions.ts";
import { brokers, checkSystem, compile, parseTarget, type TargetInput } from "../../src/index.ts";
import { accepted, oneConsumer } from "../support/examples.ts";

interface SdkPartitions {
  readonly partitionsInfo: {
    readonly partitions: readonly { readonly id: string; readonly regions: Readonly<Record<string, unknown>> }[];
  };
}

test("the regions and partitions equal those of the installed SDK", async () => {
  const path = "../../node_modules/@aws-sdk/core/dist-es/submodules/client/util-endpoints/lib/aws/partitions.js";
  const file = pathToFileURL(fileURLToPath(new URL(path, import.meta.url))).href;
  const { partitionsInfo } = (await import(file)) as SdkPartitions;
  // The SDK lists pseudo-regions such as aws-global for services without a region.
  const known = partitionsInfo.partitions.map(({ id, regions }) => [
    id,
    Object.keys(regions).filter((region) => !region.endsWith("-global")),
  ]);
  expect(Object.entries(partitions).map(([id, { regions }]) => [id, regions])).toEqual(known);
});

test("every region is in the partition that its name indicates", () => {
  for (const [id, { regions }] of Object.entries(partitions)) {
    expect(regions.map((region) => [region, partitionOf(region)])).toEqual(regions.map((region) => [region, id]));
  }
});

test.each([
  ["sqs@eusc-de-east-1", "arn:aws-eusc:sqs:eusc-de-east-1:123456789012:shop-*"],
  ["sqs@us-iso-east-1", "arn:aws-iso:sqs:us-iso-east-1:123456789012:shop-*"],
  ["sqs@cn-north-1", "arn:aws-cn:sqs:cn-north-1:123456789012:shop-*"],
  ["sqs@eu-west-1", "arn:aws:sqs:eu-west-1:123456789012:shop-*"],
])("%s is a target, and its permissions name its own partition", (text, resource) => {
  const { region } = accepted(parseTarget<"sqs">(text as "sqs@"));
  const { queues } = brokers.sqs.permissions.toDeploy({ system: "shop", region, account: "123456789012" });
  expect(queues?.Resource).toBe(resource);
});

const target = (region: string, partition?: unknown): TargetInput<"sqs"> =>
  ({ broker: "sqs", region, ...(partition === undefined ? {} : { partition }) }) as TargetInput<"sqs">;

test.each([
  ["a new region of a known partition", "eu-west-4", "aws"],
  ["a new region of the European one", "eusc-de-west-1", "aws-eusc"],
  ["a region of a future partition", "jp-gov-east-1", "aws-jp-gov"],
  ["a region that is known anyhow", "eu-west-1", "aws"],
])("%s is accepted with its partition", (_, region, partition) => {
  expect(brokers.sqs.checkTarget(target(region, partition)).ok).toBe(true);
  const system = checkSystem(oneConsumer({ handlerTimeout: "10s" }));
  const compiled = system.ok ? compile<"sqs">(system.value, target(region, partition)) : system;
  expect(compiled.ok && compiled.value.target).toBe(`sqs@${region}`);
});

test.each([
  ["an unknown region", "eu-west-4", undefined, "target.region"],
  ["a partition that is not the region's", "eu-west-4", "aws-cn", "target.partition"],
  ["a known region in another partition", "eu-west-1", "aws-eusc", "target.partition"],
  ["a mistyped partition", "eusc-de-west-1", "aws-esuc", "target.partition"],
  ["no partition", "jp-gov-east-1", "jp", "target.partition"],
  ["a partition that is no text", "jp-gov-east-1", 5, "target.partition"],
  ["no region", "", "aws", "target.region"],
  ["a name that no region has", "Frankfurt", "aws", "target.region"],
  ["the European partition's as a whole", "eusc", "aws-eusc", "target.region"],
])("%s is refused", (_, region, partition, path) => {
  const checked = brokers.sqs.checkTarget(target(region, partition));
  expect(checked.ok ? [] : checked.diagnostics.map((each) => [each.code, each.path])).toEqual([["RD201", path]]);
});
