import type { Place, SqsFinding } from "./sentences.ts";
import { type AuditedQueue, accountIn, known, nameIn, placeIn, regionIn } from "../deployment.ts";
import { sqsLimits } from "../../compile/capabilities.ts";
import { anyoneMaySend } from "./policy-access.ts";
import { wayOf, windowSecondsOf } from "./redrive.ts";
import type { Surroundings } from "./surroundings.ts";

/** Finds the faults that a queue's attributes show by themselves, without following a message. */
export function configuredBadly(queue: AuditedQueue, surroundings: Surroundings): SqsFinding[] {
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

function elsewhere(queue: AuditedQueue): SqsFinding[] {
  const redrive = known(queue.redrive);
  if (redrive === null || placeIn(redrive.targetArn) === placeIn(queue.arn)) return [];
  const at = (arn: string): Place => ({ region: regionIn(arn), account: accountIn(arn) });
  return [
    {
      code: "RD442",
      subject: queue.name,
      facts: { target: nameIn(redrive.targetArn), targetPlace: at(redrive.targetArn) },
      evidence: { ownPlace: at(queue.arn) },
    },
  ];
}

/** Finds a queue that gets dead letters and passes them on. `endlessCircles` reports circles. */
function chained(queue: AuditedQueue, surroundings: Surroundings): SqsFinding[] {
  const redrive = known(queue.redrive);
  const sources = surroundings.sourcesOf(queue);
  const [source] = sources;
  if (redrive === null || source === undefined) return [];
  const isCircle = wayOf(queue, surroundings).some((each) => known(each.redrive)?.targetArn === queue.arn);
  if (isCircle) return [];
  return [
    {
      code: "RD445",
      subject: queue.name,
      facts: { sources: sources.map(({ name }) => name), target: nameIn(redrive.targetArn) },
      evidence: { maxReceiveCount: redrive.maxReceiveCount },
    },
  ];
}

function oneReceive(queue: AuditedQueue): SqsFinding[] {
  return known(queue.redrive)?.maxReceiveCount === 1 ? [{ code: "RD446", subject: queue.name }] : [];
}

/**
 * Finds a dead-letter queue with a retention that is too short. On FIFO queues the clock starts again. Source: SQS
 * Developer Guide, "Setting up dead-letter queue retention".
 */
function shortRetention(queue: AuditedQueue, { queues, sourcesOf }: Surroundings): SqsFinding[] {
  const redrive = known(queue.redrive);
  // `chained` reports a queue that passes dead letters on.
  if (sourcesOf(queue).length > 0) return [];
  const dead = redrive === null ? undefined : queues.get(redrive.targetArn);
  const kept = queue.retentionSeconds;
  const deadKept = dead?.retentionSeconds ?? null;
  if (dead === undefined || kept === null || deadKept === null || queue.fifo || dead.fifo) return [];
  // Another error reports retries that alone take longer. With an unknown receive count, either of the two may apply.
  const isOpen = redrive?.maxReceiveCount === null;
  if (deadKept > kept || isOpen || (windowSecondsOf(queue) ?? 0) >= deadKept) return [];
  const facts = { keptSeconds: kept, deadLetterQueue: dead.name, deadKeptSeconds: deadKept };
  return [{ code: "RD448", subject: queue.name, facts }];
}

function allowsTooMany({ name, redriveAllow }: AuditedQueue): SqsFinding[] {
  if (redriveAllow === "untold" || redriveAllow.permission !== "byQueue") return [];
  const count = redriveAllow.sourceArns.length;
  if (count <= sqsLimits.redriveSources) return [];
  return [{ code: "RD453", subject: name, facts: { count } }];
}

function inClear({ name, isEncrypted }: AuditedQueue): SqsFinding[] {
  return isEncrypted === false ? [{ code: "RD454", subject: name }] : [];
}

function open({ arn, name, statements }: AuditedQueue): SqsFinding[] {
  return statements !== "untold" && anyoneMaySend(statements, arn) ? [{ code: "RD455", subject: name }] : [];
}

function visibleAtOnce(queue: AuditedQueue, { isDeadLetterQueue }: Surroundings): SqsFinding[] {
  if (queue.visibilityTimeoutSeconds !== 0 || isDeadLetterQueue(queue)) return [];
  return [{ code: "RD460", subject: queue.name }];
}
