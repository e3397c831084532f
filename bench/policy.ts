import { startPolicyHost } from "../test/support/policy-host.ts";
import type { ProgramRun, RegisteredResource } from "../test/support/pulumi.ts";

// Judges a stack of so many resources in the policy pack as Pulumi starts it, over its own protocol, and prints one line of JSON.

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

/** Five resources: two queues of SQS, two of RabbitMQ, and one that no rule is about. */
function addConsumer(number: number): void {
  const name = `consumer-${number}`;
  const dead = `${name}-dead`;
  const redrive = JSON.stringify({ deadLetterTargetArn: arnOf(dead), maxReceiveCount: 5 });
  const times = { visibilityTimeoutSeconds: 30, sqsManagedSseEnabled: true };
  const sqs = "aws:sqs/queue:Queue";
  add(sqs, dead, { name: dead, arn: arnOf(dead), messageRetentionSeconds: 1_209_600, ...times });
  const own = { name, arn: arnOf(name), messageRetentionSeconds: 345_600, ...times };
  // Every tenth has no dead-letter queue, so that there is something to find.
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
const host = await startPolicyHost("preset: strict\n");
const startedAt = performance.now();
const found = await host.analyze(resources);
const stackAt = performance.now();
found.push(...(await host.analyzeStack(run)));
const endedAt = performance.now();
await host.stop();
console.log(
  JSON.stringify({
    resources: resources.length,
    eachMs: stackAt - startedAt,
    stackMs: endedAt - stackAt,
    violations: found.length,
  }),
);
