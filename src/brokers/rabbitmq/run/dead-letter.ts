import type { DeadLetterField, ReasonCode } from "../../../consume/port/dead-letter-fields.ts";
import type { AnyContract } from "../../../contract/contract.ts";
import { operationsAfter } from "../../../contract/interpret.ts";
import type { Contract, Operation } from "../compile/contract.ts";
import type { Death, Letter, LetterReader } from "../../../consume/port/dead-letter.ts";
import { read, readPath, readText } from "../../../consume/port/read-path.ts";

/** A message as `amqplib` receives it. */
export const readAmqplibLetter: LetterReader = (message, contract) => {
  const properties = read(message, "properties");
  const headers = read(properties, "headers");
  if (!isObject(headers)) return null;
  const [messageId, correlationId] = [readText(properties, "messageId"), readText(properties, "correlationId")];
  return letterOf([headers], headers, messageId, correlationId, contract);
};

/**
 * A message as `rhea` receives it. The broker's fields are in the annotations, and those of a 0-9-1 publisher in the
 * application properties.
 */
export const readRheaLetter: LetterReader = (message, contract) => {
  const annotations = read(message, "message_annotations");
  const properties = read(message, "application_properties");
  if (!isObject(annotations) && !isObject(properties)) return null;
  return letterOf(
    [annotations, properties],
    annotations,
    readText(message, "message_id"),
    readText(message, "correlation_id"),
    contract,
  );
};

function letterOf(
  tables: readonly unknown[],
  recorded: unknown,
  messageId: string | undefined,
  correlationId: string | undefined,
  contract: AnyContract | undefined,
): Letter {
  return {
    // An AMQP 1.0 consumer writes annotations, and an application's annotations begin with `x-opt-`.
    written: (field: DeadLetterField) =>
      tables
        .map((table) => readText(table, field) ?? readText(table, `x-opt-${field}`))
        .find((text) => text !== undefined),
    messageId,
    correlationId,
    death: lastDeath(recorded, contract, isPublished(tables)),
    // A copy that a consumer published may carry the records of earlier deaths, which look like those after it.
    isRewritten: false,
  };
}

/**
 * Spring AMQP and MassTransit publish a failed message themselves, with the headers that it had. Its records of deaths
 * are then those of earlier attempts, often in a waiting queue. Sources: `RepublishMessageRecoverer` of Spring AMQP;
 * `MessageHeaders` of MassTransit.
 */
const publishersRecords = ["x-exception-message", "x-exception-stacktrace", "x-original-exchange", "MT-Reason"];

function isPublished(tables: readonly unknown[]): boolean {
  return publishersRecords.some((name) => tables.some((table) => readText(table, name) !== undefined));
}

/** One record of x-death or x-opt-deaths: the deaths in one queue for one reason. */
type DeathRecord = ReturnType<typeof recordsOf>[number];

function lastDeath(recorded: unknown, contract: AnyContract | undefined, published: boolean): Death | null {
  const records = [read(recorded, "x-death"), read(recorded, "x-opt-deaths")].flatMap(recordsOf);
  const last = lastRecord(recorded, records, contract);
  if (last === undefined) return null;
  const at = last.lastAt ?? (last.count === 1 ? last.firstAt : undefined);
  const isOwn = contract !== undefined && isOfRabbitmq(contract) && contract.workQueue === last.queue;
  // A death in the contract's work queue is the end, whichever records an earlier life left in the headers.
  if (published && !isOwn) return null;
  const reason = isOwn ? contractsReason(last.reason, contract) : brokersReason(last.reason);
  return {
    queue: last.queue,
    ...(reason === undefined ? {} : { reason }),
    ...(reason === "ATTEMPTS_EXHAUSTED" && contract !== undefined ? { attempts: contract.attempts.length } : {}),
    ...(at === undefined ? {} : { at }),
  };
}

/**
 * The record of the death that ended it. Brokers since 3.13 name it. Before, the order of the records says nothing, so
 * it is known only if there is one record. With the contract it is also known, because every death in a work queue
 * except a rejection leads to the dead queue at once.
 */
function lastRecord(
  recorded: unknown,
  records: readonly DeathRecord[],
  contract: AnyContract | undefined,
): DeathRecord | undefined {
  const queue = readText(recorded, "x-last-death-queue");
  const reason = readText(recorded, "x-last-death-reason");
  if (queue !== undefined && reason !== undefined) {
    const record = records.find((each) => each.queue === queue && each.reason === reason);
    return record ?? { queue, reason, count: undefined, firstAt: undefined, lastAt: undefined };
  }
  if (records.length === 1) return records[0];
  const inWorkQueue = records.filter((each) => each.queue === contract?.workQueue);
  const atOnce = inWorkQueue.filter((each) => each.reason !== "rejected");
  return atOnce.length === 1 ? atOnce[0] : atOnce.length === 0 ? inWorkQueue[0] : undefined;
}

/**
 * The meaning of a RabbitMQ reason that has only one. A rejection or a spent delivery limit can mean several things.
 */
function brokersReason(reason: string): ReasonCode | undefined {
  if (reason === "expired") return "EXPIRED";
  return reason === "maxlen" ? "QUEUE_OVERFLOW" : undefined;
}

function isOfRabbitmq(contract: AnyContract): contract is Contract {
  return contract.protocol === "amqp-0-9-1" || contract.protocol === "amqp-1.0";
}

function contractsReason(reason: string, contract: Contract): ReasonCode | undefined {
  const permanentRejects = lastOperations(contract, "permanent").some(rejects);
  const failed = lastOperations(contract, "transient");
  switch (reason) {
    case "rejected":
      if (permanentRejects === failed.some(rejects)) return undefined;
      return permanentRejects ? "PERMANENT_FAILURE" : "ATTEMPTS_EXHAUSTED";
    case "delivery_limit":
      // If a failure counts towards the limit, a crash is an attempt like any other.
      return failed.some(counts) ? "ATTEMPTS_EXHAUSTED" : "CRASH_LIMIT";
    default:
      return brokersReason(reason);
  }
}

function lastOperations({ attempts, outcomes }: Contract, name: "permanent" | "transient"): readonly Operation[] {
  return operationsAfter(outcomes[name], attempts.length);
}

function rejects(operation: Operation): boolean {
  if (operation.operation === "modified") return operation.undeliverableHere;
  return (operation.operation === "basic.nack" || operation.operation === "basic.reject") && !operation.requeue;
}

function counts(operation: Operation): boolean {
  if (operation.operation === "modified") return operation.deliveryFailed && !operation.undeliverableHere;
  return operation.operation === "basic.reject" && operation.requeue;
}

function recordsOf(table: unknown) {
  if (!Array.isArray(table)) return [];
  return table.flatMap((entry: unknown) => {
    const [queue, reason] = [readText(entry, "queue"), readText(entry, "reason")];
    if (queue === undefined || reason === undefined) return [];
    const [count, seconds] = [read(entry, "count"), readPath(entry, "time", "value")];
    return {
      queue,
      reason,
      count: typeof count === "number" ? count : undefined,
      /** The time of the first death. It is that of the last one only if there was one. */
      firstAt: dateOf(typeof seconds === "number" ? seconds * 1_000 : read(entry, "first-time")),
      /** Only x-opt-deaths records it. */
      lastAt: dateOf(read(entry, "last-time")),
    };
  });
}

function dateOf(time: unknown): Date | undefined {
  if (typeof time !== "number" && !(time instanceof Date)) return undefined;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
