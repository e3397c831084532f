import { type Diagnostic, diagnosed } from "../../../diagnostics/diagnostic.ts";
import type { Plan } from "../../../plan/plan.ts";
import { parseArn } from "./arn.ts";
import { sqsLimits } from "./capabilities.ts";
import { isBucketArn, isServiceArn } from "./services.ts";

/**
 * Finds problems with a source of another owner. A topic may lie in another account or region, so only its ARN names
 * it.
 *
 * @param region the region of the queues
 */
export function foreignSourceProblems({ sources, consumers }: Plan, source: string, region: string): Diagnostic[] {
  const { name = "" } = sources[source] ?? {};
  const path = ["sources", source, "name"];
  if (isServiceArn(name)) {
    const wrong = senderProblem(path, name, region);
    return wrong.length > 0 ? wrong : serviceProblems(name, source, consumers);
  }
  if (parseArn(name)?.service !== "sns")
    return diagnosed("RD222", {
      path,
      message:
        name === "" ? "the topic of another owner has no name here" : "this is no ARN of a topic, a rule or a bucket",
      ...(name === "" ? {} : { value: name }),
      help: "write the ARN of the topic, such as arn:aws:sns:eu-west-1:123456789012:events",
    });
  const inOrder = consumers.find(({ from, order }) => order === "per-key" && source in from);
  if (inOrder === undefined || name.endsWith(sqsLimits.fifoSuffix)) return [];
  return diagnosed("RD222", {
    path: ["consumers", inOrder.consumer, "order"],
    message: "a standard topic cannot deliver to the FIFO queue of a consumer in order",
    value: "per-key",
    notes: [`${source} is the standard topic ${name}`],
    help: "leave order out, or ask the owner of the topic for a FIFO topic",
  });
}

/**
 * Finds an ARN that no rule and no bucket can have, and a rule that cannot reach the queue. Sources: S3 User Guide,
 * "Bucket naming rules". AWS re:Post, "EventBridge rule across Regions": in another region a rule reaches event buses
 * alone.
 */
function senderProblem(path: readonly string[], arn: string, region: string): Diagnostic[] {
  const { region: own = "", resource = "" } = parseArn(arn) ?? {};
  const problem = (message: string, help: string) => diagnosed("RD222", { path, message, value: arn, help });
  if (isBucketArn(arn))
    return own === "" && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(resource)
      ? []
      : problem("no bucket has this ARN", "write the ARN of the bucket, such as arn:aws:s3:::invoices");
  if (!/^rule(\/[^/]+)+$/.test(resource))
    return problem(
      "no rule has this ARN",
      `write the ARN of the rule, such as arn:aws:events:${region}:123456789012:rule/refunds`,
    );
  if (own === region) return [];
  return problem(
    `a rule in ${own || "no region"} does not reach a queue in ${region}`,
    `send the events on to an event bus in ${region}, and name a rule there`,
  );
}

/**
 * Nothing stands between a service and the queue that could filter. Sources: S3 User Guide, "Amazon S3 Event
 * Notifications": a FIFO queue is no destination. EventBridge API Reference, "SqsParameters": a FIFO queue must
 * deduplicate by content, because a rule gives a group and no deduplication id.
 */
function serviceProblems(arn: string, source: string, consumers: Plan["consumers"]): Diagnostic[] {
  const isBucket = isBucketArn(arn);
  return consumers.flatMap(({ consumer, from, order, ...chosen }) => {
    if (!Object.hasOwn(from, source)) return [];
    const path = ["consumers", consumer];
    if (order === "per-key")
      return diagnosed("RD222", {
        path: [...path, "order"],
        message: `${isBucket ? "S3" : "EventBridge"} cannot send to the FIFO queue of a consumer in order`,
        value: "per-key",
        notes: [
          `${source} is ${arn}`,
          ...(isBucket ? [] : ["a rule gives no deduplication id, and the queue does not deduplicate by content"]),
        ],
        help: "leave order out, or let a function of your own send the events on",
      });
    const isChosen = [chosen.matches, chosen.filters].some((all) => all?.[source] !== undefined);
    if (from[source] === "all" && !isChosen) return [];
    return diagnosed("RD216", {
      path: [...path, "from", source],
      message: `${isBucket ? "S3" : "EventBridge"} sends to the queue itself, so no filter can stand between them`,
      value: from[source],
      help: `write ${source}: all, and choose the events ${isBucket ? "in the notifications of the bucket" : "by the pattern of the rule"}`,
    });
  });
}
