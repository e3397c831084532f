import { isDeepStrictEqual } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import * as pulumi from "@pulumi/pulumi";

import { exponential, linear } from "../src/index.ts";
import type { SystemInput } from "../src/index.ts";
import { RetryTopology } from "../src/brokers/rabbitmq/make/index.ts";
import type { RegisteredResource } from "../test/support/pulumi.ts";
import { runProgram } from "../test/support/pulumi.ts";
import { withLoop } from "./pulumi-by-hand.ts";

/** The time that each program took to register the same resources, in one process and under the same mocks. */
export interface PulumiBench {
  readonly consumers: number;
  readonly resources: number;
  readonly componentMs: readonly number[];
  readonly loopMs: readonly number[];
  /** The median of each pair's ratio: component time divided by loop time. */
  readonly medianRatio: number;
  readonly limit: number;
}

/** The highest cost of the component, as a multiple of the hand-written loop. */
const limit = 1.2;

const consumerNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `consumer-${index}`);

/** Three policies in turn, one for each strategy on RabbitMQ 4.3: staged, native, waits. */
function declare(count: number): SystemInput {
  const policies = [
    { attempts: 5, backoff: exponential({ first: "1s", factor: 2, max: "10s" }) },
    { attempts: 4, backoff: linear({ first: "10s", max: "1m" }) },
    { attempts: 3, backoff: exponential({ first: "30s", factor: 3, max: "20m", jitter: "20%" }) },
  ] as const;
  const consumers = consumerNames(count).map((name, index) => [
    name,
    {
      from: { orders: [`${name}.placed`, `${name}.cancelled`] },
      retry: policies[index % policies.length],
      crash: index % 3 === 1 ? undefined : { deliveries: 3 },
    },
  ]);
  return JSON.parse(
    JSON.stringify({
      name: "bench",
      sources: { orders: { kind: "topic" } },
      consumers: Object.fromEntries(consumers),
    }),
  ) as SystemInput;
}

function withComponent(count: number): () => void {
  const system = declare(count);
  return () => {
    const topology = new RetryTopology("bench", {
      system,
      target: { broker: "rabbitmq", version: "4.3" },
      vhost: "bench",
    });
    if (topology.contracts.length !== count) throw new Error("the component left out a consumer");
  };
}

// Garbage of one program must not be collected in the other's time.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Runs a program under minimal mocks. The time is that of the program and of Pulumi's SDK. */
async function measureMs(program: () => void): Promise<number> {
  await pulumi.runtime.setMocks(
    {
      newResource: ({ name, inputs }) => ({ id: name, state: inputs }),
      call: ({ inputs }) => inputs,
    },
    "bench",
    "bench",
    false,
  );
  collectGarbage();
  const start = performance.now();
  await pulumi.runtime.runInPulumiStack(async () => program());
  await (pulumi.runtime as unknown as { readonly waitForRPCs: () => Promise<void> }).waitForRPCs();
  return performance.now() - start;
}

/** Both programs must register the same resources with the same inputs and options, or the comparison says nothing. */
async function sameResources(count: number): Promise<readonly RegisteredResource[]> {
  const component = await runProgram(withComponent(count));
  const loop = await runProgram(withLoop(component.resources));
  if (component.error !== undefined || loop.error !== undefined) throw component.error ?? loop.error;
  const ofBroker = ({ resources }: typeof component): Map<string, object> =>
    new Map(
      resources
        .filter(({ type }) => type.startsWith("rabbitmq:"))
        .map((each) => [
          each.urn,
          {
            ...each,
            sourcePosition: null,
            dependencies: each.dependencies.toSorted(),
            inputs: withoutOrder(each.inputs),
          },
        ]),
    );
  const [left, right] = [ofBroker(component), ofBroker(loop)];
  const differs = [...left.keys(), ...right.keys()].find((urn) => !isDeepStrictEqual(left.get(urn), right.get(urn)));
  if (differs !== undefined) {
    throw new Error(
      `the two programs differ in ${differs}:\n${JSON.stringify(left.get(differs))}\n${JSON.stringify(right.get(differs))}`,
    );
  }
  return component.resources;
}

function withoutOrder(inputs: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(inputs, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/**
 * Registers the consumers through RetryTopology and through a hand-written loop, in pairs whose order alternates.
 *
 * @throws Error if the two do not register the same resources
 */
export async function benchPulumi(consumers = 1_000, pairs = 5): Promise<PulumiBench> {
  // This also warms up both programs.
  const resources = await sameResources(consumers);
  const componentMs: number[] = [];
  const loopMs: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const isComponentFirst = pair % 2 === 0;
    if (isComponentFirst) componentMs.push(await measureMs(withComponent(consumers)));
    loopMs.push(await measureMs(withLoop(resources)));
    if (!isComponentFirst) componentMs.push(await measureMs(withComponent(consumers)));
  }
  const ratios = componentMs
    .map((milliseconds, pair) => milliseconds / (loopMs[pair] ?? Number.NaN))
    .toSorted((a, b) => a - b);
  return {
    consumers,
    resources: resources.length,
    componentMs,
    loopMs,
    medianRatio: ratios[Math.floor(pairs / 2)] ?? Number.NaN,
    limit,
  };
}

/** The result in one sentence. */
export function describePulumiBench({
  consumers,
  resources,
  componentMs,
  loopMs,
  medianRatio,
  limit: most,
}: PulumiBench): string {
  const median = (times: readonly number[]): string =>
    (times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN).toFixed(0);
  return `Pulumi, ${consumers} consumers, ${resources} resources: RetryTopology ${median(componentMs)} ms, hand-written loop ${median(loopMs)} ms, median ratio of ${componentMs.length} pairs ${medianRatio.toFixed(3)} (limit ${most})`;
}

if (import.meta.main) {
  const result = await benchPulumi();
  console.log(JSON.stringify(result));
  console.log(describePulumiBench(result));
  process.exitCode = result.medianRatio <= limit ? 0 : 1;
}
