import * as pulumi from "@pulumi/pulumi";

import { RetryTopology } from "../../../src/brokers/rabbitmq/make/index.ts";
import { sharedIn } from "../../../src/brokers/rabbitmq/make/part.ts";
import { type System, compile } from "../../../src/index.ts";
import { accepted } from "../examples.ts";
import { type RegisteredResource, runProgram } from "../pulumi.ts";

/** One deployment of a system to RabbitMQ, as in a person's program. */
export interface Deployment {
  readonly component: string;
  readonly vhost: string;
  readonly system: System;
  readonly version: string;
  readonly strategy: "auto" | "native" | "deferred" | "staged" | "waits";
  readonly strategies?: Readonly<Record<string, Deployment["strategy"]>> | undefined;
  readonly since?: string;
  readonly deadQueue?: "shared" | undefined;
  /** One stack of several. The other part is deployed by the stack of this name. */
  readonly part?: "shared" | { readonly consumers: readonly string[]; readonly stack: string };
}

const registered = new Map<string, Promise<readonly RegisteredResource[]>>();
let last: Promise<unknown> = Promise.resolve();

/**
 * The resources that the program registers, in an order that Pulumi's SDK chose. Only one program runs at a time,
 * because the mocks belong to the process.
 */
export async function registeredFor(deployment: Deployment): Promise<readonly RegisteredResource[]> {
  const key = JSON.stringify(deployment);
  let resources = registered.get(key);
  if (resources === undefined) {
    resources = last.then(async () => register(deployment));
    last = resources.catch(() => undefined);
    registered.set(key, resources);
  }
  return resources;
}

async function register(deployment: Deployment): Promise<readonly RegisteredResource[]> {
  const { component, vhost, system, version, strategy, strategies, since, deadQueue, part } = deployment;
  const target = { broker: "rabbitmq" as const, version, strategy, strategies, since, deadQueue };
  const shared = typeof part === "object" ? sharedIn(accepted(compile(system, target)).topology) : [];
  const own = typeof part === "object" ? { consumers: part.consumers, shared } : part;
  const run = await runProgram(() => {
    void new RetryTopology(component, { system, target, vhost: pulumi.output(vhost), ...(own && { part: own }) });
    return {};
  });
  if (run.error !== undefined) throw run.error;
  return run.resources;
}
