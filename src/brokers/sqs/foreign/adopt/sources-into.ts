import type { FoundSource, Unsaid } from "../../../../adopt/found.ts";
import { sqsLimits } from "../../compile/capabilities.ts";
import { isBucketArn } from "../../compile/services.ts";
import { servicesLetIn } from "../audit/policy-access.ts";
import { type AuditedQueue, type Deployment, known, nameIn } from "../deployment.ts";
import { keysOf, kindOf, takenAs } from "./keys-of.ts";

/** The topics with a subscription of the queue, with the keys of their filters, and the services that its policy names. */
export function sourcesInto(
  queue: AuditedQueue,
  deployment: Deployment,
): { readonly said: readonly FoundSource[]; readonly unsaid: readonly Unsaid[] } {
  const { arn, name } = queue;
  const all = known(deployment.subscriptions) ?? [];
  const own = all
    .filter(({ queueArn }) => queueArn === arn)
    .map((each) => {
      const kind = kindOf(all.filter(({ topicArn }) => topicArn === each.topicArn).map(keysOf));
      return { ...each, kind, ...takenAs(kind, keysOf(each)) };
    });
  const said = own.map(({ topicArn, kind, keys }): FoundSource => {
    const topic = nameIn(topicArn);
    return {
      name: topicArn,
      key: topic.endsWith(sqsLimits.fifoSuffix) ? topic.slice(0, -sqsLimits.fifoSuffix.length) : topic,
      kind,
      keys,
      isOwn: false,
      from: `the topic ${topic}, with a subscription of ${name}`,
    };
  });
  const unsaid = own.flatMap(({ topicArn, wider, attributes }): readonly Unsaid[] => [
    ...(wider === null
      ? []
      : [
          {
            place: nameIn(topicArn),
            fact: `the subscription of ${name} is declared wider than it is: ${wider}; the handler has to skip the rest`,
          },
        ]),
    ...(String(attributes["RawMessageDelivery"]) === "true" || attributes["RawMessageDelivery"] === undefined
      ? []
      : [
          {
            place: nameIn(topicArn),
            fact: `RawMessageDelivery of the subscription of ${name} is off, so handlers read the envelope of SNS; a compiled subscription delivers the message itself`,
          },
        ]),
  ]);
  const services = servicesLetIn(queue).map((each): FoundSource => ({
    name: each,
    key: each.split(/[:/]/).at(-1) ?? each,
    kind: "fanout",
    keys: "all",
    isOwn: false,
    isForeign: true,
    from: `the ${isBucketArn(each) ? "bucket" : "rule"} that the policy of ${name} lets send`,
  }));
  return { said: [...said, ...services], unsaid };
}
