import type { Finding } from "../../finding.ts";
import { nameText } from "../../finding.ts";
import type { AuditedQueue, AuditedRedrive } from "../deployment.ts";
import { accountIn, nameIn, placeIn, regionIn } from "../deployment.ts";
import { sqsLimits } from "../capabilities.ts";
import { anyoneMaySend } from "./policy-access.ts";
import { timeText, windowSecondsOf } from "./redrive-window.ts";
import { wayOf } from "./redrive-ways.ts";
import type { Surroundings } from "./surroundings.ts";

/** What the attributes of a queue tell by themselves, without following any message. */
export function configuredBadly(queue: AuditedQueue, surroundings: Surroundings): Finding[] {
  return [
    ...elsewhere(queue),
    ...chained(queue, surroundings),
    ...oneReceive(queue),
    ...shortRetention(queue, surroundings),
    ...allowsTooMany(queue),
    ...inClear(queue),
    ...open(queue),
    ...visibleAtOnce(queue, surroundings),
  ];
}

function redriveOf({ redrive }: AuditedQueue): AuditedRedrive | null {
  return redrive === "untold" ? null : redrive;
}

function elsewhere(queue: AuditedQueue): Finding[] {
  const redrive = redriveOf(queue);
  if (redrive === null || placeIn(redrive.targetArn) === placeIn(queue.arn)) return [];
  const at = (arn: string): string => `${regionIn(arn)} of account ${accountIn(arn)}`;
  return [
    {
      code: "RD442",
      queue: queue.name,
      predicate: `has the dead-letter queue ${nameText(nameIn(redrive.targetArn))} in ${at(redrive.targetArn)}`,
      notes: [`the queue itself is in ${at(queue.arn)}; a message is moved within one region of one account alone`],
      help: "make a dead-letter queue beside the queue, and copy from there what is wanted elsewhere",
    },
  ];
}

/** A queue that gets dead letters and passes them on. Circles are told by themselves. */
function chained(queue: AuditedQueue, surroundings: Surroundings): Finding[] {
  const redrive = redriveOf(queue);
  const sources = surroundings.sourcesOf(queue);
  const [source] = sources;
  if (redrive === null || source === undefined) return [];
  const isCircle = wayOf(queue, surroundings).some((each) => redriveOf(each)?.targetArn === queue.arn);
  if (isCircle) return [];
  const names = sources.map(({ name }) => nameText(name)).join(", ");
  return [
    {
      code: "RD445",
      queue: queue.name,
      predicate: `is the dead-letter queue of ${names} and has one itself, ${nameText(nameIn(redrive.targetArn))}`,
      notes: [
        `a dead letter that is received here ${timesText(redrive.maxReceiveCount)}, be it only to look at it, moves on at the next receive`,
        "the receives in the queue before count too, as ElasticMQ and moto have it: then the first receive here gets nothing and moves it",
      ],
      help: "take the redrive policy away from the queue where dead letters are to stay",
    },
  ];
}

function timesText(count: number | null): string {
  if (count === null) return "as often as the redrive policy says";
  return count === 1 ? "once" : `${count} times`;
}

function oneReceive(queue: AuditedQueue): Finding[] {
  if (redriveOf(queue)?.maxReceiveCount !== 1) return [];
  return [
    {
      code: "RD446",
      queue: queue.name,
      predicate: "gives up a message after 1 receive",
      notes: ["SQS counts a receive when it sends the answer; one that is lost on its way is the only one there was"],
      help: "raise maxReceiveCount; the handler has to bear that a message comes twice in any case",
    },
  ];
}

/** On FIFO queues the clock starts again. Source: SQS Developer Guide, "Setting up dead-letter queue retention". */
function shortRetention(queue: AuditedQueue, { queues, sourcesOf }: Surroundings): Finding[] {
  const redrive = redriveOf(queue);
  // Of a queue that passes dead letters on it is told that it does.
  if (sourcesOf(queue).length > 0) return [];
  const dead = redrive === null ? undefined : queues.get(redrive.targetArn);
  const kept = queue.retentionSeconds;
  const deadKept = dead?.retentionSeconds ?? null;
  if (dead === undefined || kept === null || deadKept === null || queue.fifo || dead.fifo) return [];
  // That the retries alone take longer is an error of its own, which a receive count that is not known yet may make of it.
  const isOpen = redrive?.maxReceiveCount === null;
  if (deadKept > kept || isOpen || (windowSecondsOf(queue) ?? 0) >= deadKept) return [];
  return [
    {
      code: "RD448",
      queue: queue.name,
      predicate: `keeps a message for ${timeText(kept)}, and its dead-letter queue ${nameText(dead.name)} for ${timeText(deadKept)}`,
      notes: [
        "a message takes its age along: one that waited for a consumer that was away is deleted in the dead-letter queue soon after it came, or at once",
      ],
      help: "raise the retention period of the dead-letter queue to 14 days, and keep that of the queue some days below it",
    },
  ];
}

function allowsTooMany({ name, redriveAllow }: AuditedQueue): Finding[] {
  if (redriveAllow === "untold" || redriveAllow.permission !== "byQueue") return [];
  const count = redriveAllow.sourceArns.length;
  if (count <= sqsLimits.redriveSources) return [];
  return [
    {
      code: "RD453",
      queue: name,
      predicate: `names ${count} source queues in its redrive-allow policy, and SQS takes ${sqsLimits.redriveSources} at most`,
      notes: ["with more it lets every queue of the account use this one as its dead-letter queue"],
      help: "give groups of consumers dead-letter queues of their own, or say allowAll if that is meant",
    },
  ];
}

function inClear({ name, isEncrypted }: AuditedQueue): Finding[] {
  if (isEncrypted !== false) return [];
  return [
    {
      code: "RD454",
      queue: name,
      predicate: "keeps its messages unencrypted",
      notes: [],
      help: "set SqsManagedSseEnabled to true: it costs nothing, and nobody who sends or receives has to change anything",
    },
  ];
}

function open({ arn, name, statements }: AuditedQueue): Finding[] {
  if (statements === "untold" || !anyoneMaySend(statements, arn)) return [];
  return [
    {
      code: "RD455",
      queue: name,
      predicate: "takes messages from anybody",
      notes: [
        'its policy allows the principal "*" to send, without a condition: every account of AWS, and requests of none',
      ],
      help: "name the accounts or services that send, or add a condition such as aws:SourceArn or aws:PrincipalOrgID",
    },
  ];
}

function visibleAtOnce(queue: AuditedQueue, { isDeadLetterQueue }: Surroundings): Finding[] {
  if (queue.visibilityTimeoutSeconds !== 0 || isDeadLetterQueue(queue)) return [];
  return [
    {
      code: "RD460",
      queue: queue.name,
      predicate: "has a visibility timeout of 0 s",
      notes: [
        "a message is there for the next consumer while the first one still handles it, and each of these receives counts",
      ],
      help: "set it above the time that the handler takes; SQS's own default is 30 s",
    },
  ];
}
