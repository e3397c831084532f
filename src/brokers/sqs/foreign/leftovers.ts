import type { Leftover } from "../../deployed-part.ts";
import type { SqsCompiled } from "../compile/compile.ts";
import { type Deployment, known } from "./deployment.ts";

/**
 * The queues that have the system's prefix, or a name of an earlier declaration, and are not declared any more. Each
 * has the calls that remove it. Dead queues come last.
 */
export function leftoversIn(
  { regions, subscriptions }: Deployment,
  compiled: SqsCompiled,
  earlier: readonly SqsCompiled[] = [],
  others: readonly SqsCompiled[] = [],
): readonly Leftover[] {
  const before = new Set(earlier.flatMap(namesIn));
  const declared = new Set([compiled, ...others].flatMap(namesIn));
  return regions.flatMap(({ name: region, queues }) =>
    queues
      .filter(
        ({ name }) => (name.startsWith(`${compiled.topology.system}-`) || before.has(name)) && !declared.has(name),
      )
      .map(({ name, arn, redrive }): Leftover => {
        const own = (known(subscriptions) ?? []).filter(({ queueArn }) => queueArn === arn);
        return {
          place: region,
          kind: "queue",
          name,
          // Every work queue has a redrive policy, and no dead queue has one.
          holds: redrive === null ? "dead" : "work",
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

function namesIn({ topology }: SqsCompiled): readonly string[] {
  return topology.queues.map(({ name }) => name);
}

function unsubscribe(topicArn: string, queueArn: string): string {
  const query = `Subscriptions[?Endpoint=='${queueArn}'].SubscriptionArn`;
  return `aws sns unsubscribe --subscription-arn "$(aws sns list-subscriptions-by-topic --topic-arn ${topicArn} --query "${query}" --output text)"`;
}
