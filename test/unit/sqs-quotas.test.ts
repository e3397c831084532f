import { describe, expect, test } from "vitest";

import type { CompiledSystem, Diagnostic, TargetInput } from "../../src/index.ts";
import { brokers, checkSystem, compile } from "../../src/index.ts";
import { diagnoseAutomaticNames } from "../../src/brokers/sqs/compile/automatic-names.ts";
import { alarmName } from "../../src/brokers/sqs/compile/names.ts";
import { accepted } from "../support/examples.ts";

const retry = { attempts: 3, backoff: { kind: "constant", delay: "30s" } };
const target: TargetInput<"sqs"> = { broker: "sqs", region: "eu-west-1" };

interface Size {
  readonly consumers?: number;
  readonly sources?: number;
  readonly order?: "none" | "per-key";
  readonly keys?: readonly string[] | "all";
}

/** A system of this many consumers. Each takes from every source. */
function compiled({ consumers = 1, sources = 1, order = "none", keys = ["order.placed"] }: Size, of = target) {
  const names = (what: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${what}-${index}`);
  const consumer = {
    from: Object.fromEntries(names("source", sources).map((name) => [name, keys])),
    retry,
    handlerTimeout: "30s",
    order,
  };
  const system = checkSystem({
    name: "shop",
    sources: Object.fromEntries(names("source", sources).map((name) => [name, { kind: "topic" }])),
    consumers: Object.fromEntries(names("consumer", consumers).map((name) => [name, consumer])),
  });
  return system.ok ? compile<"sqs">(system.value, of) : system;
}

function topologyOf(size: Size): CompiledSystem<"sqs">["topology"] {
  const result = accepted(compiled(size));
  return result.topology;
}

const inWords = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics
    .filter(({ code }) => code !== "RD207")
    .map(({ code, severity, path, message }) => `${severity} ${code} ${path}: ${message}`);

function saidOf(size: Size, of = target): readonly string[] {
  const result = compiled(size, of);
  return inWords(result.ok ? result.warnings : result.diagnostics);
}

function saidOfTemplate(size: Size): readonly string[] {
  const result = accepted(compiled(size));
  return inWords(brokers.sqs.diagnoseExport?.(result, "aws-json") ?? []);
}

describe("a system that AWS would refuse in the middle of a deployment is refused before", () => {
  test("101 subscriptions of a FIFO topic", () => {
    expect(saidOf({ consumers: 100, order: "per-key" })).toEqual([]);
    expect(saidOf({ consumers: 101, order: "per-key" })).toEqual([
      "error RD219 sources.source-0: the FIFO topic shop-source-0.fifo would have 101 subscriptions; 100 are allowed",
    ]);
    expect(saidOf({ consumers: 101, keys: "all" })).toEqual([]);
  });

  test("filter policies of a topic, reported before warnings about single consumers", () => {
    expect(saidOf({ consumers: 200 })).toEqual([]);
    const result = compiled({ consumers: 201 });
    expect(inWords(result.ok ? result.warnings.slice(0, 1) : [])).toEqual([
      "warning RD220 sources.source-0: the topic shop-source-0 would have 201 filter policies; 200 are allowed unless you request more",
    ]);
    expect(saidOf({ consumers: 201, keys: "all" })).toEqual([]);
  });

  test("filter policies of an account", () => {
    expect(saidOf({ consumers: 200, sources: 50 })).toEqual([]);
    expect(saidOf({ consumers: 200, sources: 51 })).toEqual([
      "warning RD220 consumers: the account would have 10,200 filter policies; 10,000 are allowed unless you request more",
    ]);
  });

  test("the policy of a queue, with the length of its region's topic names", () => {
    const most = (of: TargetInput<"sqs">): number =>
      Array.from({ length: 50 }, (_, index) => index + 100).findLast(
        (sources) => saidOf({ sources, keys: "all" }, of).length === 0,
      ) ?? 0;
    const { queues } = topologyOf({ sources: most(target), keys: "all" });
    expect(queues.map(({ sendersTopics }) => sendersTopics.length)).toEqual([0, most(target), most(target)]);
    expect(most({ broker: "sqs", region: "ap-southeast-1" })).toBeLessThan(most(target));
    expect(saidOf({ sources: most(target) + 1, keys: "all" })).toEqual([
      expect.stringMatching(/^error RD219 consumers.consumer-0.from: the policy of a queue would have 8,\d{3} bytes/),
    ]);
  });

  test("the same policy with automatic names, which are longer", () => {
    const topology = topologyOf({ sources: 130, keys: "all" });
    const said = diagnoseAutomaticNames(topology, { broker: "sqs", region: "eu-west-1", strategy: "auto" }, "retries");
    expect(said.map(({ code }) => code)).toEqual(["RD219"]);
  });
});

describe("templates that CloudFormation refuses", () => {
  test("a template that fits a request, and one that needs a bucket", () => {
    expect(saidOfTemplate({ consumers: 5 })).toEqual([]);
    const [said, ...others] = saidOfTemplate({ consumers: 10 });
    expect(said).toMatch(
      /^warning RD220 consumers: the template would have \d\d,\d{3} bytes; 51,200 are allowed unless/,
    );
    expect(others).toEqual([]);
  });

  test("501 resources, 201 outputs and a megabyte", () => {
    // A topic, and for each consumer three queues with their policies, and a subscription.
    expect(saidOfTemplate({ consumers: 71 })).toEqual([expect.stringMatching(/^warning RD220/)]);
    expect(saidOfTemplate({ consumers: 72 })).toEqual([
      "error RD219 consumers: the template would have 505 resources; 500 are allowed",
    ]);
    expect(saidOfTemplate({ consumers: 201, keys: "all" })).toEqual([
      "error RD219 consumers: the template would have 1,408 resources; 500 are allowed",
      "error RD219 consumers: the template would have 201 outputs; 200 are allowed",
      expect.stringMatching(/^error RD219 consumers: the template would have 1,\d{3},\d{3} bytes/),
    ]);
  });
});

test("no alarm name exceeds 255 characters, because no queue name exceeds 80", () => {
  expect(alarmName("q".repeat(80), "received").length).toBeLessThan(255);
});
