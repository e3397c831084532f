import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  type SQSClient,
} from "@aws-sdk/client-sqs";

/** The end of an attempt by its handler. */
export type EndsPlainly = (body: string, attempt: number) => "success" | "transient" | "permanent" | "return";

/** The code of a consumer written by hand, once correct and then with one mistake each. */
interface Ways {
  readonly receive: { readonly count: boolean; readonly attributes: boolean; readonly own: object };
  readonly transient: "wait" | "delete" | "at once" | "too long" | "wait twice" | "copy, then delete" | "nothing";
  readonly permanent:
    | "copy, then delete"
    | "delete, then copy"
    | "both at once"
    | "copy twice, then delete"
    | "copy"
    | "delete"
    | "wait";
  readonly copy: (copy: SendMessageCommandInput, place: Place) => Partial<SendMessageCommandInput>;
  readonly success: "delete" | "nothing" | "delete twice" | "wait" | "delete in the dead queue";
  readonly return: "at once" | "delete" | "wait" | "nothing";
}

const right: Ways = {
  receive: { count: true, attributes: true, own: {} },
  transient: "wait",
  permanent: "copy, then delete",
  copy: () => ({}),
  success: "delete",
  return: "at once",
};

interface HandWritten {
  readonly ways: Ways;
  /** The words of the check about it; null for none. */
  readonly caught: RegExp | null;
}

type Attributes = NonNullable<SendMessageCommandInput["MessageAttributes"]>;
const text = (StringValue: string): Attributes[string] => ({ DataType: "String", StringValue });
const without =
  (...names: readonly string[]): Ways["copy"] =>
  ({ MessageAttributes = {} }) => ({
    MessageAttributes: Object.fromEntries(Object.entries(MessageAttributes).filter(([name]) => !names.includes(name))),
  });
const withAttributes =
  (more: Attributes): Ways["copy"] =>
  ({ MessageAttributes = {} }) => ({ MessageAttributes: { ...MessageAttributes, ...more } });

const ofReceive = (change: Partial<Ways["receive"]>, caught: RegExp): HandWritten => ({
  ways: { ...right, receive: { ...right.receive, ...change } },
  caught,
});
const doing = (change: Partial<Ways>, caught: RegExp): HandWritten => ({ ways: { ...right, ...change }, caught });
const copying = (copy: Ways["copy"], caught: RegExp): HandWritten => doing({ copy }, caught);

export const withoutMistake: HandWritten = { ways: right, caught: null };

/** Mistakes that show with any message. */
export const wrongReceives: Readonly<Record<string, HandWritten>> = {
  "the receive count is not asked for": ofReceive({ count: false }, /^does not ask for ApproximateReceiveCount$/),
  "attributes are not asked for": ofReceive({ attributes: false }, /^does not ask for All$/),
  "a receive hides for a time of its own": ofReceive(
    { own: { VisibilityTimeout: 60 } },
    /^receives with a visibility timeout of its own$/,
  ),
};

/** Mistakes with a message, by their names. */
export const handWritten: Readonly<Record<string, HandWritten>> = {
  "none at all": withoutMistake,
  "a failed message is deleted": doing(
    { transient: "delete" },
    /transient.*: DeleteMessage instead of ChangeMessageVisibility$/,
  ),
  "a failed message is visible at once": doing({ transient: "at once" }, /transient.*: hidden for 0 s instead of 600/),
  "a failed message is hidden for too long": doing(
    { transient: "too long" },
    /transient.*: hidden for 601 s instead of 600/,
  ),
  "a failed message is hidden twice": doing(
    { transient: "wait twice" },
    /transient.*: ChangeMessageVisibility, then ChangeMessageVisibility instead of/,
  ),
  "a failed message waits for the queue": doing({ transient: "nothing" }, /transient.*: nothing instead of Change/),
  "a failed message is dead at once": doing(
    { transient: "copy, then delete" },
    /transient.*: SendMessage, then DeleteMessage instead of ChangeMessageVisibility$/,
  ),
  "a message is deleted before it is copied": doing(
    { permanent: "delete, then copy" },
    /permanent.*: DeleteMessage, then SendMessage instead of SendMessage, then DeleteMessage$/,
  ),
  "the consumer does not wait for the copy": doing(
    { permanent: "both at once" },
    /permanent.*: (DeleteMessage before SQS has answered|DeleteMessage, then SendMessage instead of .*)$/,
  ),
  "a permanent failure is copied twice": doing(
    { permanent: "copy twice, then delete" },
    /permanent.*: SendMessage, then SendMessage, then DeleteMessage instead of/,
  ),
  "a permanent failure is copied and left": doing({ permanent: "copy" }, /permanent.*: SendMessage instead of/),
  "a permanent failure is deleted": doing({ permanent: "delete" }, /permanent.*: DeleteMessage instead of/),
  "a permanent failure is tried again": doing({ permanent: "wait" }, /permanent.*: ChangeMessageVisibility instead of/),
  "a copy has none of the attributes": copying(without("tenant", "routing-key"), /: the copy lacks tenant$/),
  "a copy has an attribute of another type": copying(
    withAttributes({ tenant: { DataType: "Binary", BinaryValue: Buffer.from("a") } }),
    /: its tenant is \{"DataType":"Binary"/,
  ),
  "a copy has an extra attribute": copying(withAttributes({ more: text("b") }), /: more on the copy$/),
  "a copy has no reason": copying(without("dlq-failure-reason"), /: the copy lacks dlq-failure-reason$/),
  "a copy has another reason": copying(
    withAttributes({ "dlq-failure-reason": text("EXPIRED") }),
    /: its dlq-failure-reason is .*EXPIRED/,
  ),
  "a copy does not say where it was": copying(without("dlq-original-queue"), /: the copy lacks dlq-original-queue$/),
  "a copy says another attempt": copying(
    withAttributes({ "dlq-retry-count": text("9") }),
    /: its dlq-retry-count is 9$/,
  ),
  "a copy has another body": copying(
    ({ MessageBody }) => ({ MessageBody: `${MessageBody} again` }),
    /: its MessageBody is .* again instead of /,
  ),
  "a copy waits": copying(() => ({ DelaySeconds: 5 }), /: its DelaySeconds is 5 instead of undefined$/),
  "a copy goes to the wrong queue": copying((_, { work }) => ({ QueueUrl: work }), /: the copy goes to /),
  "a message that is done is left": doing({ success: "nothing" }, /success.*: nothing instead of DeleteMessage$/),
  "a message that is done is hidden": doing(
    { success: "wait" },
    /success.*: ChangeMessageVisibility instead of DeleteMessage$/,
  ),
  "a message that is done is deleted twice": doing(
    { success: "delete twice" },
    /success.*: DeleteMessage, then DeleteMessage instead of DeleteMessage$/,
  ),
  "a message that is done is deleted in another queue": doing(
    { success: "delete in the dead queue" },
    /success.*: in the queue .*-dead$/,
  ),
  "a message that is returned is deleted": doing({ return: "delete" }, /return.*: DeleteMessage instead of Change/),
  "a message that is returned waits": doing({ return: "wait" }, /return.*: hidden for 1 s instead of 0 to 0 s$/),
  "a message that is returned is left": doing({ return: "nothing" }, /return.*: nothing instead of Change/),
};

export interface Place {
  readonly sqs: SQSClient;
  readonly work: string;
  readonly workName: string;
  readonly dead: string;
  /** Seconds after each attempt. */
  readonly delays: readonly number[];
}

/** Receives once, and handles the messages. @param writtenOf gives the consumer for a message, by its body */
export async function handleOnce(
  place: Place,
  { ways: { receive } }: HandWritten,
  writtenOf: (body: string) => HandWritten,
  ended: EndsPlainly,
): Promise<void> {
  const { Messages = [] } = await place.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: place.work,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 0,
      ...(receive.count ? { MessageSystemAttributeNames: ["ApproximateReceiveCount"] } : {}),
      ...(receive.attributes ? { MessageAttributeNames: ["All"] } : {}),
      ...receive.own,
    }),
  );
  await Promise.all(
    Messages.map(async (message) => {
      const { Body = "", Attributes } = message;
      const attempt = Number(Attributes?.ApproximateReceiveCount ?? 1);
      await end(place, writtenOf(Body).ways, message, attempt, ended(Body, attempt));
    }),
  );
}

async function end(
  place: Place,
  ways: Ways,
  message: Message,
  attempt: number,
  outcome: ReturnType<EndsPlainly>,
): Promise<void> {
  const { sqs, work, dead, delays } = place;
  const receipt = { QueueUrl: work, ReceiptHandle: message.ReceiptHandle };
  const remove = (QueueUrl = work) => sqs.send(new DeleteMessageCommand({ ...receipt, QueueUrl }));
  const hide = (seconds: number) =>
    sqs.send(new ChangeMessageVisibilityCommand({ ...receipt, VisibilityTimeout: seconds }));
  const copied = copyOf(message, place);
  const copy = () => sqs.send(new SendMessageCommand({ ...copied, ...ways.copy(copied, place) }));
  const delay = delays[attempt - 1] ?? 0;
  const wait = () => hide(outcome === "return" ? 1 : delay);
  const steps: Readonly<Record<string, readonly (() => Promise<unknown>)[]>> = {
    wait: [wait],
    "wait twice": [wait, wait],
    delete: [() => remove()],
    "delete twice": [() => remove(), () => remove()],
    "delete in the dead queue": [() => remove(dead)],
    "at once": [() => hide(0)],
    "too long": [() => hide(delay + 1)],
    copy: [copy],
    "copy, then delete": [copy, () => remove()],
    "copy twice, then delete": [copy, copy, () => remove()],
    "delete, then copy": [() => remove(), copy],
    "both at once": [() => Promise.all([copy(), remove()])],
    nothing: [],
  };
  // SQS may refuse a mistake. The call counts all the same.
  for (const step of steps[ways[outcome]] ?? []) await step().catch(() => undefined);
}

function copyOf(
  { Body, MessageId = "", MessageAttributes }: Message,
  { dead, workName }: Place,
): SendMessageCommandInput {
  return {
    QueueUrl: dead,
    MessageBody: Body,
    MessageAttributes: {
      ...MessageAttributes,
      "dlq-original-queue": text(workName),
      "dlq-failure-reason": text("PERMANENT_FAILURE"),
      "dlq-original-message-id": text(MessageId),
    },
  };
}
