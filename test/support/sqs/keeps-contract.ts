import type { Call } from "./recording-proxy.ts";
import type { SqsContract } from "./drive.ts";

type Outcome = keyof SqsContract["outcomes"];
type Operation = ReturnType<typeof operationsAfter>[number];

/** How a handler ended an attempt. */
export type Ended = (body: string, attempt: number) => Outcome;

interface Received {
  readonly ReceiptHandle: string;
  readonly MessageId: string;
  readonly Body: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MessageAttributes?: Readonly<Record<string, { readonly StringValue?: string }>>;
}

/**
 * Compares the calls that a consumer made with its contract: how it receives, and for each message it received, which operations it did, in which
 * order, and that each waited for the answer of the one before. It knows nothing of how the consumer is made.
 *
 * @returns what differs, in words; empty for a consumer that keeps its contract
 */
export function breachesOf(contract: SqsContract, calls: readonly Call[], ended: Ended): readonly string[] {
  const receives = calls.filter(({ operation }) => operation === "ReceiveMessage");
  return [
    ...receives.flatMap((call) => receiveBreaches(contract, call)),
    ...receives.flatMap(({ output }) =>
      ((output["Messages"] ?? []) as readonly Received[]).flatMap((message) =>
        messageBreaches(contract, calls, message, ended),
      ),
    ),
  ];
}

function receiveBreaches({ receive }: SqsContract, { input }: Call): string[] {
  const breaches: string[] = [];
  const most = Number(input["MaxNumberOfMessages"] ?? 1);
  if (most > receive.maxNumberOfMessages)
    breaches.push(`receives ${most} at a time, ${receive.maxNumberOfMessages} at most`);
  for (const list of ["MessageSystemAttributeNames", "MessageAttributeNames"] as const) {
    const asked = (input[list] ?? []) as readonly string[];
    const wanted =
      list === "MessageAttributeNames" ? receive.messageAttributeNames : receive.messageSystemAttributeNames;
    for (const name of wanted) if (!asked.includes(name)) breaches.push(`does not ask for ${name}`);
  }
  if (input["VisibilityTimeout"] !== undefined) breaches.push("receives with a visibility timeout of its own");
  return breaches;
}

function messageBreaches(contract: SqsContract, calls: readonly Call[], message: Received, ended: Ended): string[] {
  const attempt = Number(message.Attributes?.["ApproximateReceiveCount"]);
  const name = `${message.Body}, attempt ${attempt}`;
  const wanted = operationsAfter(contract.outcomes[ended(message.Body, attempt)], attempt);
  const made = calls.filter((call) => isAbout(call, message));
  const [madeWords, wantedWords] = [made.map(({ operation }) => operation), wanted.map(({ operation }) => operation)];
  if (madeWords.join() !== wantedWords.join())
    return [
      `${name}: ${madeWords.join(", then ") || "nothing"} instead of ${wantedWords.join(", then ") || "nothing"}`,
    ];
  return made.flatMap((call, index) => [
    ...(index > 0 && !isAfter(call, made[index - 1]) ? [`${name}: ${call.operation} before SQS has answered`] : []),
    ...operationBreaches(call, wanted[index] as Operation, message).map((breach) => `${name}: ${breach}`),
  ]);
}

function isAfter({ calledAtMs }: Call, before: Call | undefined): boolean {
  return before?.status === 200 && before.answeredAtMs !== null && before.answeredAtMs <= calledAtMs;
}

function operationsAfter(outcome: SqsContract["outcomes"][Outcome], attempt: number) {
  return "byAttempt" in outcome ? (outcome.byAttempt[attempt - 1] ?? []) : outcome;
}

/** A copy names no receipt, so it is known by its body: each message of a test has its own. */
function isAbout({ operation, input }: Call, { ReceiptHandle, Body }: Received): boolean {
  return operation === "SendMessage" ? input["MessageBody"] === Body : input["ReceiptHandle"] === ReceiptHandle;
}

function operationBreaches({ input }: Call, operation: Operation, message: Received): string[] {
  switch (operation.operation) {
    case "DeleteMessage":
      return [];
    case "ChangeMessageVisibility": {
      const seconds = Number(input["VisibilityTimeout"]);
      const range = operation.visibilityTimeoutSeconds;
      if (range === "asked" || (seconds >= range.from && seconds <= range.to && Number.isInteger(seconds))) return [];
      return [`hidden for ${seconds} s instead of ${range.from} to ${range.to} s`];
    }
    case "SendMessage": {
      const breaches: string[] = [];
      if (!String(input["QueueUrl"]).endsWith(`/${operation.queue}`))
        breaches.push(`the copy goes to ${String(input["QueueUrl"])}`);
      const sent = (input["MessageAttributes"] ?? {}) as NonNullable<Received["MessageAttributes"]>;
      for (const [attribute, { StringValue }] of Object.entries(message.MessageAttributes ?? {}))
        if (sent[attribute]?.StringValue !== StringValue) breaches.push(`the copy lacks ${attribute}`);
      for (const attribute of Object.keys(operation.attributes))
        if (sent[attribute]?.StringValue === undefined) breaches.push(`the copy lacks ${attribute}`);
      return breaches;
    }
    default:
      return operation satisfies never;
  }
}
