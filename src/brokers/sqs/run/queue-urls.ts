import { GetQueueUrlCommand, type SQSClient } from "@aws-sdk/client-sqs";

import type { SqsCompiled } from "../compile/compile.ts";
import { answerWithinMs } from "./client.ts";
import type { Contract } from "../compile/contract.ts";

export type SqsQueue = SqsCompiled["topology"]["queues"][number];

export function queuesOf({ topology }: SqsCompiled, { workQueue, deadQueue }: Contract) {
  const named = (name: string): SqsQueue => {
    const queue = topology.queues.find((each) => each.name === name);
    if (queue === undefined) throw new Error(`the contract names ${name}, which is not in the topology`);
    return queue;
  };
  return { work: named(workQueue), dead: named(deadQueue) };
}

export async function findUrls(client: SQSClient, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    names.map(async (name) => {
      const options = { abortSignal: AbortSignal.timeout(answerWithinMs) };
      const { QueueUrl: url = "" } = await client.send(new GetQueueUrlCommand({ QueueName: name }), options);
      return [name, url] as const;
    }),
  );
  return new Map(found);
}
