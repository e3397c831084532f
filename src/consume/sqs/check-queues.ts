import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";

import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { refused } from "../../diagnostics/render.ts";
import type { Comparison } from "../adapter.ts";
import { answerWithinMs, createClient, isExpired, isMissing, isRefusal } from "./client.ts";
import { compareQueue, type FoundAttributes } from "./compare-queue.ts";
import { findUrls, queuesOf, type SqsQueue } from "./queue-urls.ts";
import { notAllowed, saidBy } from "./refusal.ts";

/**
 * Compares the work queue and the dead queue with what was compiled. It receives nothing.
 *
 * @throws RefusedError
 */
export async function checkQueues({ compiled, contract, connection, report }: Comparison<"sqs">): Promise<void> {
  const { work, dead } = queuesOf(compiled, contract);
  const where = connection.endpoint ?? compiled.target;
  const results = await Promise.all(
    [work, dead].map((queue) => compareFound(() => createClient(compiled, connection), queue, where)),
  );
  const problems = results.flatMap((each) => each.problems);
  if (problems.length > 0) throw refused(withoutRepeats(problems));
  for (const event of results.flatMap((each) => each.events)) report(event);
}

async function compareFound(
  connect: () => SQSClient,
  queue: SqsQueue,
  where: string,
): Promise<ReturnType<typeof compareQueue>> {
  try {
    // Keys that somebody has kept for too long are no refusal: a new client fetches new ones.
    const found = await attributesOf(connect, queue).catch((error: unknown) => {
      if (!isExpired(error)) throw error;
      return attributesOf(connect, queue);
    });
    return compareQueue(queue, found);
  } catch (error) {
    return { problems: [whyNot(error, queue, where)], events: [] };
  }
}

async function attributesOf(connect: () => SQSClient, queue: SqsQueue): Promise<FoundAttributes> {
  const client = connect();
  try {
    const urls = await findUrls(client, [queue.name]);
    const options = { abortSignal: AbortSignal.timeout(answerWithinMs) };
    const command = new GetQueueAttributesCommand({ QueueUrl: urls.get(queue.name), AttributeNames: ["All"] });
    const { Attributes = {} } = await client.send(command, options);
    return Attributes;
  } finally {
    client.destroy();
  }
}

function whyNot(error: unknown, { name }: SqsQueue, where: string): Diagnostic {
  const said = saidBy(error);
  if (isMissing(error)) {
    return diagnostic("RD805", {
      path: name,
      message: `there is no queue ${name} at ${where}`,
      notes: ["SQS says the same of a queue that these credentials may not see", said],
      help: "deploy the system before its consumers, or correct the region or the account",
    });
  }
  if (isRefusal(error)) return notAllowed(error, where);
  return diagnostic("RD804", {
    path: "options.connection",
    message: `nothing that is SQS answers at ${where}`,
    notes: [said],
    help: "correct the endpoint or the region, or see why the network keeps the consumer from it",
  });
}

/** Credentials that are refused, or an address where nobody answers, are one problem, however many queues are asked for. */
function withoutRepeats(problems: readonly Diagnostic[]): readonly Diagnostic[] {
  return problems.filter(
    ({ code, path }, index) => problems.findIndex((each) => each.code === code && each.path === path) === index,
  );
}
