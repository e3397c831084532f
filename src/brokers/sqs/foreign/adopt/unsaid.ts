import type { Unsaid } from "../../../../adopt/found.ts";
import { type Diagnostic, diagnosed } from "../../../../diagnostics/diagnostic.ts";
import { othersLetIn, servicesLetIn } from "../audit/policy-access.ts";
import { isBucketArn, isServiceArn } from "../../compile/services.ts";
import { type AuditedQueue, nameIn } from "../deployment.ts";

interface Around {
  /** The queue that its redrive policy names. */
  readonly next: AuditedQueue | undefined;
  /** True if that is a work queue. */
  readonly isNextWork: boolean;
  /** The number of attempts of a queue without a redrive policy. */
  readonly guessed: number;
  /** The topics, rules and buckets that are its sources. */
  readonly sourceArns: readonly string[];
}

/** The facts about one work queue that no property of a declaration has a place for. */
export function unsaidOf(queue: AuditedQueue, { next, isNextWork, guessed, sourceArns }: Around): readonly Unsaid[] {
  const { name, redrive, delaySeconds } = queue;
  const dead = isNextWork ? undefined : next;
  const others = othersLetIn(queue, sourceArns);
  const deadOthers =
    dead === undefined
      ? []
      : othersLetIn(
          dead,
          sourceArns.filter((each) => !isServiceArn(each)),
        );
  const bound = servicesLetIn(queue, "aws:sourceaccount").filter(isBucketArn);
  const facts: readonly (string | false)[] = [
    /celery/i.test(name) &&
      "by its name Celery uses it: each task has the schedule in its code, by default max_retries=3 and default_retry_delay=180",
    "a schedule in its consumers' code, such as calls of ChangeMessageVisibility, shows in no queue",
    (delaySeconds ?? 0) > 0 && `DelaySeconds is ${delaySeconds}: a compiled work queue delays no new message`,
    deduplicatesByContent(queue) &&
      "ContentBasedDeduplication is on: producers of a compiled queue have to send a MessageDeduplicationId",
    next !== undefined &&
      isNextWork &&
      `its dead letters go to ${next.name}, whose consumer works on them today; a declaration has no such way, so new ones stay in a dead queue`,
    dead !== undefined &&
      dead.redrive !== null &&
      dead.redrive !== "untold" &&
      `its dead-letter queue ${dead.name} has a redrive policy to ${nameIn(dead.redrive.targetArn)}; a dead queue of a declaration has none`,
    others.length > 0 &&
      `its policy lets in ${others.join(", ")}; the policy of a compiled queue lets in the declared sources and the account alone`,
    deadOthers.length > 0 &&
      `the policy of its dead-letter queue lets in ${deadOthers.join(", ")}; the policy of a compiled dead queue lets in the account alone`,
    bound.length > 0 &&
      `its policy asks for the account of ${bound.join(", ")}, too; the policy of a compiled queue asks for the bucket alone, so another account may send after it takes over the name`,
  ];
  const endless = `no redrive policy ends its attempts today, and SQS deletes a message that fails for longer than its retention; ${guessed} attempts are a guess`;
  return [
    ...(redrive === null ? [{ place: name, fact: endless, isLoss: true as const }] : []),
    ...facts.filter((fact) => fact !== false).map((fact) => ({ place: name, fact })),
  ];
}

function deduplicatesByContent({ attributes }: AuditedQueue): boolean {
  return String(attributes["ContentBasedDeduplication"]) === "true";
}

/** The changes outside of the broker that a deployment needs first. */
export function cautionsOf(queue: AuditedQueue): readonly Diagnostic[] {
  if (!deduplicatesByContent(queue)) return [];
  return diagnosed("RD625", {
    path: ["queues", queue.name],
    message: `${queue.name} deduplicates by content, and a compiled queue does not`,
    notes: ["after the deployment SQS refuses each message that its producer sends without a MessageDeduplicationId"],
    help: "let the producers send a MessageDeduplicationId before you deploy; today SQS takes the SHA-256 of the body",
  });
}
