import { SubscribeCommand } from "@aws-sdk/client-sns";
import { DeleteQueueCommand, type Message } from "@aws-sdk/client-sqs";
import { type Experiment, failTimes, mustReceive, receiveCount, shortVisibility } from "./experiment.ts";
import type { Observation } from "./claim.ts";
import { answerTo, type Lab, type Queue, type QueueAttributes } from "./lab.ts";

const typed = (type: string, name = "type") => ({ [name]: { DataType: "String", StringValue: type } });

/** Runs an experiment with a topic, if the emulator has topics. */
const withTopic =
  (observe: (lab: Lab, topicArn: string) => Promise<Observation>): Experiment =>
  async (lab) => {
    const creating = lab.createTopic();
    return (await answerTo(creating)) === "accepted" ? observe(lab, await creating) : "no SNS";
  };

/** A queue that the topic may send to, subscribed with raw delivery. */
async function subscribe(lab: Lab, topicArn: string, attributes: QueueAttributes = {}): Promise<Queue> {
  const queue = await lab.createQueue({ ...shortVisibility, Policy: allowing(topicArn) });
  await subscribeQueue(lab, topicArn, queue, attributes);
  return queue;
}

async function subscribeQueue(lab: Lab, topicArn: string, queue: Queue, attributes: QueueAttributes): Promise<void> {
  const Attributes = { RawMessageDelivery: "true", ...attributes };
  await lab.sns.send(new SubscribeCommand({ TopicArn: topicArn, Protocol: "sqs", Endpoint: queue.arn, Attributes }));
}

function allowing(topicArn: string): string {
  const statement = {
    Effect: "Allow",
    Principal: { Service: "sns.amazonaws.com" },
    Action: "sqs:SendMessage",
    Resource: "*",
    Condition: { ArnEquals: { "aws:SourceArn": topicArn } },
  };
  return JSON.stringify({ Version: "2012-10-17", Statement: [statement] });
}

const reachesAll = withTopic(async (lab, topicArn) => {
  const [first, second] = [await subscribe(lab, topicArn), await subscribe(lab, topicArn)];
  await lab.publish(topicArn, "order");
  const done = await mustReceive(lab, second);
  await lab.deleteMessage(second, done);
  const retried = await failTimes(lab, first, 2);
  return { first: retried.map(receiveCount), second: [receiveCount(done)], secondAfterRetry: await lab.count(second) };
});

const rawDelivery = withTopic(async (lab, topicArn) => {
  const queue = await subscribe(lab, topicArn);
  await lab.publish(topicArn, "order", typed("order.placed"));
  const message: Message = await mustReceive(lab, queue);
  return { body: message.Body ?? null, attribute: message.MessageAttributes?.["type"]?.StringValue ?? null };
});

const filter = withTopic(async (lab, topicArn) => {
  const queue = await subscribe(lab, topicArn, { FilterPolicy: JSON.stringify({ type: ["order.placed"] }) });
  await lab.publish(topicArn, "cancelled", typed("order.cancelled"));
  await lab.publish(topicArn, "placed", typed("order.placed"));
  return (await lab.receive(queue, { max: 10, waitSeconds: 1 })).map((message) => message.Body ?? null);
});

const deadLetters = withTopic(async (lab, topicArn) => {
  const dead = await lab.createQueue({ Policy: allowing(topicArn) });
  const queue = await subscribe(lab, topicArn, { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead.arn }) });
  await lab.sqs.send(new DeleteQueueCommand({ QueueUrl: queue.url }));
  const answer = await answerTo(lab.publish(topicArn, "order"));
  return { answer, dead: (await lab.receive(dead, { waitSeconds: 1 })).length };
});

const rawAttributes = withTopic(async (lab, topicArn) => {
  const publish = async (count: number): Promise<Observation> => {
    const queue = await subscribe(lab, topicArn);
    const attributes = Object.assign(
      {},
      ...Array.from({ length: count }, (_, index) => typed("any", `attribute-${index}`)),
    );
    const answer = await answerTo(lab.publish(topicArn, "order", attributes));
    return { answer, work: (await lab.receive(queue, { waitSeconds: 1 })).length };
  };
  return { ten: await publish(10), eleven: await publish(11) };
});

const wantsQueuePolicy = withTopic(async (lab, topicArn) => {
  const queue = await lab.createQueue();
  await subscribeQueue(lab, topicArn, queue, {});
  await lab.publish(topicArn, "order");
  return (await lab.receive(queue, { waitSeconds: 1 })).length;
});

export const topicExperiments = {
  "topic-reaches-all": reachesAll,
  "topic-raw-delivery": rawDelivery,
  "topic-filter": filter,
  "topic-dead-letters": deadLetters,
  "topic-raw-attributes": rawAttributes,
  "topic-wants-queue-policy": wantsQueuePolicy,
} satisfies Readonly<Record<string, Experiment>>;
