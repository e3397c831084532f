import { type Message, SetQueueAttributesCommand, StartMessageMoveTaskCommand } from "@aws-sdk/client-sqs";
import {
  createPair,
  type Experiment,
  failTimes,
  mustReceive,
  pollUntilMoved,
  receiveCount,
  shortVisibility,
} from "./experiment.ts";
import { answerTo, type Lab, type Queue, redrivePolicy, sleep } from "./lab.ts";

const text = { kind: { DataType: "String", StringValue: "order.placed" } };

/** A message after two deliveries and the move, and the same message before the move. */
async function deadLetter(lab: Lab): Promise<{ before: Message; after: Message; work: Queue; dead: Queue }> {
  const { work, dead } = await createPair(lab, 2);
  await lab.send(work, "order", { MessageAttributes: text });
  const [before] = (await failTimes(lab, work, 2)) as [Message];
  await pollUntilMoved(lab, work, dead);
  return { before, after: await mustReceive(lab, dead), work, dead };
}

const movesOnNextReceive: Experiment = async (lab) => {
  const { work, dead } = await createPair(lab, 2);
  await lab.send(work, "order");
  const counts = (await failTimes(lab, work, 2)).map(receiveCount);
  const thenDelivered = await pollUntilMoved(lab, work, dead);
  return { counts, thenDelivered, left: await lab.count(work), dead: await lab.count(dead) };
};

const moveKeepsMessage: Experiment = async (lab) => {
  const { before, after } = await deadLetter(lab);
  const same = (name: "SentTimestamp" | "ApproximateFirstReceiveTimestamp"): boolean =>
    before.Attributes?.[name] !== undefined && before.Attributes[name] === after.Attributes?.[name];
  return {
    id: before.MessageId === after.MessageId,
    body: after.Body === "order",
    attributes: after.MessageAttributes?.["kind"]?.StringValue === text.kind.StringValue,
    sent: same("SentTimestamp"),
    firstReceive: same("ApproximateFirstReceiveTimestamp"),
  };
};

const unpolledNeverMoves: Experiment = async (lab) => {
  const { work, dead } = await createPair(lab, 2);
  await lab.send(work, "order");
  await failTimes(lab, work, 2);
  await sleep(2_500);
  return { left: await lab.count(work), dead: await lab.count(dead) };
};

const noLoop: Experiment = async (lab) => {
  const { work, dead } = await createPair(lab, 2);
  await lab.send(work, "order");
  let deliveries = (await failTimes(lab, work, 2)).length;
  deliveries += await pollUntilMoved(lab, work, dead);
  // Twice as many polls as queues. The test leaves a message of the dead-letter queue there, so that it comes back.
  for (let poll = 0; poll < 4; poll += 1) {
    await lab.receive(dead);
    await sleep(300);
    deliveries += (await lab.receive(work)).length;
  }
  return { deliveries, dead: await lab.count(dead) };
};

const deletedOnSecondOf =
  (maxReceiveCount: number): Experiment =>
  async (lab) => {
    const { work, dead } = await createPair(lab, maxReceiveCount);
    await lab.send(work, "order");
    await failTimes(lab, work, 1);
    await lab.deleteMessage(work, await mustReceive(lab, work));
    await sleep(1_200);
    await lab.receive(work);
    return { left: await lab.count(work), dead: await lab.count(dead) };
  };

const chain: Experiment = async (lab) => {
  const last = await lab.createQueue();
  const middle = await lab.createQueue({ ...shortVisibility, ...redrivePolicy(last, 2) });
  const first = await lab.createQueue({ ...shortVisibility, ...redrivePolicy(middle, 2) });
  await lab.send(first, "order");
  const deliveries = { first: 0, middle: 0, last: 0 };
  const deadline = performance.now() + 8_000;
  while (deliveries.last === 0 && performance.now() < deadline) {
    deliveries.first += (await lab.receive(first)).length;
    deliveries.middle += (await lab.receive(middle)).length;
    deliveries.last += (await lab.receive(last)).length;
    await sleep(100);
  }
  return deliveries;
};

async function createCycle(lab: Lab): Promise<{ first: Queue; second: Queue; closing: Promise<unknown> }> {
  const second = await lab.createQueue(shortVisibility);
  const first = await lab.createQueue({ ...shortVisibility, ...redrivePolicy(second, 2) });
  const closing = new SetQueueAttributesCommand({ QueueUrl: second.url, Attributes: { ...redrivePolicy(first, 2) } });
  return { first, second, closing: lab.sqs.send(closing) };
}

const cycleDeliversOn: Experiment = async (lab) => {
  const { first, second, closing } = await createCycle(lab);
  await closing;
  await lab.send(first, "order");
  await failTimes(lab, first, 2);
  let delivered = 0;
  const deadline = performance.now() + 3_000;
  while (performance.now() < deadline) {
    delivered += (await lab.receive(second)).length + (await lab.receive(first)).length;
    await sleep(100);
  }
  return delivered > 0 ? "delivers on" : "delivers no more";
};

/** AWS allows no retention below a minute, which is too long for a test. Both emulators accept shorter ones. */
const retentionDeletes: Experiment = async (lab) => {
  const { work, dead } = await createPair(lab, 2, { MessageRetentionPeriod: "2" });
  await lab.send(work, "order");
  await failTimes(lab, work, 1);
  await sleep(2_500);
  const [message] = await lab.receive(work);
  return { left: message === undefined ? 0 : 1, dead: await lab.count(dead) };
};

const redriveMakesNewMessage: Experiment = async (lab) => {
  const { after, work, dead } = await deadLetter(lab);
  await lab.changeVisibility(dead, after, 0);
  const answer = await answerTo(lab.sqs.send(new StartMessageMoveTaskCommand({ SourceArn: dead.arn })));
  if (answer !== "accepted") return answer;
  const back = await mustReceive(lab, work);
  return back.MessageId === after.MessageId ? "moved, same id" : "moved, new id";
};

const redriveWantsDeadLetterQueue: Experiment = async (lab) => {
  const [source, destination] = [await lab.createQueue(), await lab.createQueue()];
  return answerTo(
    lab.sqs.send(new StartMessageMoveTaskCommand({ SourceArn: source.arn, DestinationArn: destination.arn })),
  );
};

export const redriveExperiments = {
  "moves-on-next-receive": movesOnNextReceive,
  "move-keeps-message": moveKeepsMessage,
  "unpolled-never-moves": unpolledNeverMoves,
  "count-across-queues": async (lab) => receiveCount((await deadLetter(lab)).after),
  "dead-letter-names-source": async (lab) => {
    const { after, work } = await deadLetter(lab);
    return after.Attributes?.DeadLetterQueueSourceArn === work.arn;
  },
  "no-loop": noLoop,
  "success-ends-it": deletedOnSecondOf(5),
  "last-delivery-can-succeed": deletedOnSecondOf(2),
  "chain-delivers-in-the-middle": chain,
  "cycle-is-accepted": async (lab) => answerTo((await createCycle(lab)).closing),
  "cycle-delivers-on": cycleDeliversOn,
  "retention-deletes": retentionDeletes,
  "redrive-makes-new-message": redriveMakesNewMessage,
  "redrive-wants-dead-letter-queue": redriveWantsDeadLetterQueue,
} satisfies Readonly<Record<string, Experiment>>;
