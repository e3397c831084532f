import { DeleteQueueCommand } from "@aws-sdk/client-sqs";
import { accountId, region } from "./clients.ts";
import type { Experiment } from "./experiment.ts";
import { answerTo, type Lab, type QueueAttributes, redrivePolicy } from "./lab.ts";

const creating =
  (attributes: QueueAttributes, name?: string): Experiment =>
  async (lab) =>
    answerTo(lab.createQueue(attributes, name));

const redriveWith =
  (maxReceiveCount: number): Experiment =>
  async (lab) =>
    answerTo(lab.createQueue(redrivePolicy(await lab.createQueue(), maxReceiveCount)));

const withoutMaxReceiveCount: Experiment = async (lab) => {
  const { arn } = await lab.createQueue();
  return answerTo(lab.createQueue({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn }) }));
};

const redriveElsewhere: Experiment = async (lab) => {
  const { arn } = await lab.createQueue();
  return answerTo(lab.createQueue(redrivePolicy({ arn: arn.replace(region, "eu-west-1") }, 3)));
};

const someQueue = (number: number): string => `arn:aws:sqs:${region}:${accountId}:some-queue-${number}`;

/**
 * Tells if a queue with this allow policy can become the dead-letter queue of a queue that the policy does not name.
 */
const allowing =
  (policy: { readonly redrivePermission: string; readonly sourceQueueArns?: readonly string[] }): Experiment =>
  async (lab) => {
    const dead = await lab.createQueue({ RedriveAllowPolicy: JSON.stringify(policy) });
    return answerTo(lab.createQueue(redrivePolicy(dead, 3)));
  };

const sourcesAllowed = (count: number): QueueAttributes => {
  const sourceQueueArns = Array.from({ length: count }, (_, index) => someQueue(index));
  return { RedriveAllowPolicy: JSON.stringify({ redrivePermission: "byQueue", sourceQueueArns }) };
};

const messageSize: Experiment = async (lab) => {
  const queue = await lab.createQueue();
  const mebibyte = 1_048_576;
  const send = async (size: number): Promise<string> => answerTo(lab.send(queue, "x".repeat(size)));
  return [await send(mebibyte), await send(mebibyte + 1)];
};

const recreate = async (lab: Lab): Promise<string> => {
  const queue = await lab.createQueue();
  await lab.sqs.send(new DeleteQueueCommand({ QueueUrl: queue.url }));
  return answerTo(lab.createQueue({}, queue.name));
};

export const refusalExperiments = {
  "attempts-zero": redriveWith(0),
  "attempts-1001": redriveWith(1001),
  "attempts-missing": withoutMaxReceiveCount,
  "dead-letter-queue-missing": creating(redrivePolicy({ arn: someQueue(0) }, 3)),
  "dead-letter-queue-elsewhere": redriveElsewhere,
  "fifo-to-standard": async (lab) => answerTo(lab.createFifoQueue({ ...redrivePolicy(await lab.createQueue(), 3) })),
  "standard-to-fifo": async (lab) => answerTo(lab.createQueue(redrivePolicy(await lab.createFifoQueue(), 3))),
  "allow-policy-deny-all": allowing({ redrivePermission: "denyAll" }),
  "allow-policy-by-queue": allowing({ redrivePermission: "byQueue", sourceQueueArns: [someQueue(0)] }),
  "allow-policy-11-sources": creating(sourcesAllowed(11)),
  "queue-visibility-43201": creating({ VisibilityTimeout: "43201" }),
  "queue-delay-901": creating({ DelaySeconds: "901" }),
  "message-delay-901": async (lab) => answerTo(lab.send(await lab.createQueue(), "order", { DelaySeconds: 901 })),
  "retention-59": creating({ MessageRetentionPeriod: "59" }),
  "retention-15-days": creating({ MessageRetentionPeriod: "1296000" }),
  "name-81": creating({}, "n".repeat(81)),
  "fifo-name": creating({ FifoQueue: "true" }),
  "message-size": messageSize,
  "recreate-at-once": recreate,
} satisfies Readonly<Record<string, Experiment>>;
