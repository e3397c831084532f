import { existsSync, readFileSync } from "node:fs";

import { rules } from "../src/policy/rules.ts";
import { startPolicyHost } from "../test/support/policy-host.ts";
import type { ProgramRun, RegisteredResource } from "../test/support/pulumi.ts";

// Judges a stack of this many resources in the policy pack, over Pulumi's own protocol, and prints one line of JSON. It
// holds the time and the pack's processor time, and both for the protocol alone.

const size = Number(process.argv[2] ?? "5000");
const outputs = new Map<string, Readonly<Record<string, unknown>>>();
const resources: RegisteredResource[] = [];

function add(type: string, name: string, properties: Readonly<Record<string, unknown>>): void {
  const urn = `urn:pulumi:bench::shop::${type}::${name}`;
  outputs.set(urn, properties);
  const nothing = { parent: "", provider: "", protect: true, retainOnDelete: false, dependencies: [] };
  resources.push({ urn, type, name, custom: true, inputs: properties, ...nothing, propertyDependencies: {} });
}

const arnOf = (name: string): string => `arn:aws:sqs:eu-west-1:123456789012:${name}`;

/** Five resources: two queues of SQS, two of RabbitMQ, and one that no rule judges. */
function addConsumer(number: number): void {
  const name = `consumer-${number}`;
  const dead = `${name}-dead`;
  const redrive = JSON.stringify({ deadLetterTargetArn: arnOf(dead), maxReceiveCount: 5 });
  const times = { visibilityTimeoutSeconds: 30, sqsManagedSseEnabled: true };
  const sqs = "aws:sqs/queue:Queue";
  add(sqs, dead, { name: dead, arn: arnOf(dead), messageRetentionSeconds: 1_209_600, ...times });
  const own = { name, arn: arnOf(name), messageRetentionSeconds: 345_600, ...times };
  // Every tenth queue lacks a dead-letter queue, so that the rules find something.
  add(sqs, name, number % 10 === 0 ? own : { ...own, redrivePolicy: redrive });
  const deadTo = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
  const quorum = (given: object): object => ({
    durable: true,
    argumentsJson: JSON.stringify({ "x-queue-type": "quorum", ...given }),
  });
  const queue = "rabbitmq:index/queue:Queue";
  add(queue, dead, { name: dead, vhost: "/", settings: quorum({ "x-delivery-limit": -1 }) });
  add(queue, name, { name, vhost: "/", settings: quorum(number % 10 === 0 ? {} : deadTo) });
  add("aws:s3/bucket:Bucket", name, { bucket: name, tags: { team: "shop", cost: "42" } });
}

for (let number = 1; resources.length < size; number++) addConsumer(number);
const run: ProgramRun = {
  resources,
  resourceOutputs: outputs,
  registeredOutputs: new Map(),
  outputs: {},
  error: undefined,
  log: [],
};

/**
 * The processor time of a process so far. Null on systems without /proc. Source: proc_pid_stat(5), in ticks of 10 ms.
 */
function processorMs(processId: number | undefined): number | null {
  const file = `/proc/${processId}/stat`;
  if (!existsSync(file)) return null;
  const fields = readFileSync(file, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function judgedWith(options: string): Promise<Readonly<Record<string, number | null>>> {
  const host = await startPolicyHost(options);
  const workedMs = processorMs(host.processId);
  const startedAt = performance.now();
  const found = await host.analyze(resources);
  const stackAt = performance.now();
  found.push(...(await host.analyzeStack(run)));
  const endedAt = performance.now();
  const hostMs = workedMs === null ? null : (processorMs(host.processId) ?? 0) - workedMs;
  await host.stop();
  return { eachMs: stackAt - startedAt, stackMs: endedAt - stackAt, hostMs, violations: found.length };
}

// With all rules disabled, only Pulumi's protocol between the two processes remains.
const disabled = Object.fromEntries(rules.map(({ name }) => [name, "disabled"]));
const protocol = await judgedWith(JSON.stringify({ rules: disabled }));
const judged = await judgedWith("preset: strict\n");
console.log(JSON.stringify({ resources: resources.length, judged, protocol }));
