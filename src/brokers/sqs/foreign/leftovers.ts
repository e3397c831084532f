import type { Leftover } from "../../broker.ts";
import type { SqsCompiled } from "../compile/compile.ts";
import { type Deployment, known } from "./deployment.ts";

/**
 * The queues that have the system's name and are not declared any more, with the calls that remove them. Dead queues
 * come last.
 */
export function leftoversIn({ regions, subscriptions }: Deployment, { topology }: SqsCompiled): readonly Leftover[] {
  const declared = new Set(topology.queues.map(({ name }) => name));
  return regions.flatMap(({ name: region, queues }) =>
    queues
      .filter(({ name }) => name.startsWith(`${topology.system}-`) && !declared.has(name))
      .map(({ name, arn }): Leftover => {
        const own = (known(subscriptions) ?? []).filter(({ queueArn }) => queueArn === arn);
        return {
          place: region,
          kind: "queue",
          name,
          holds: /-(dead|undelivered)(\.fifo)?$/.test(name) ? "dead" : "work",
          longestWaitMs: null,
          removal: [
            ...own.map(({ topicArn }) => unsubscribe(topicArn, arn)),
            `aws sqs delete-queue --queue-url "$(aws sqs get-queue-url --queue-name ${name} --query QueueUrl --output text)"`,
          ],
        };
      })
      .toSorted((a, b) => Number(a.holds === "dead") - Number(b.holds === "dead")),
  );
}

function unsubscribe(topicArn: string, queueArn: string): string {
  const query = `Subscriptions[?Endpoint=='${queueArn}'].SubscriptionArn`;
  return `aws sns unsubscribe --subscription-arn "$(aws sns list-subscriptions-by-topic --topic-arn ${topicArn} --query "${query}" --output text)"`;
}
