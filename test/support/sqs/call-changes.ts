import { type Change, onePlaceChangesOf } from "../consume/one-place-changes.ts";
import type { Call } from "./recording-proxy.ts";

/**
 * A contract does not define the error texts of a dead letter. More attributes in a receive than its contract needs do
 * no harm.
 */
const skip = [
  "dlq-failure-timestamp",
  "dlq-exception-stack-trace-summary",
  "dlq-failing-consumer-info",
  "WaitTimeSeconds",
  "QueueUrl",
  "VisibilityTimeout",
];

/**
 * The calls of a consumer with one fault, for some of the calls that receive or settle a message. The calls before the
 * first receive only check the consumer's rights.
 */
export function callChangesOf(
  all: readonly Call[],
  isLookedAt: (call: Call) => boolean,
): readonly Change<readonly Call[]>[] {
  const calls = all.slice(all.findIndex(({ operation }) => operation === "ReceiveMessage"));
  return calls.flatMap((call, index) => {
    if (!isLookedAt(call)) return [];
    const { operation, input } = call;
    const instead = (what: string, ...others: readonly Call[]): Change<readonly Call[]> => ({
      what: `${operation}${what} (call ${index})`,
      value: [...calls.slice(0, index), ...others, ...calls.slice(index + 1)],
    });
    const withInput = (what: string, more: Call["input"], other = operation): Change<readonly Call[]> =>
      instead(what, { ...call, operation: other, input: { ...input, ...more } });
    switch (operation) {
      case "ReceiveMessage":
        return [
          withInput(" without the receive count", { MessageSystemAttributeNames: [] }),
          withInput(" without attributes", { MessageAttributeNames: [] }),
          withInput(" that hides for a time of its own", { VisibilityTimeout: 60 }),
        ];
      case "SendMessage":
        return [
          ...settlementChanges(call, instead, withInput),
          ...copyChanges(call, withInput),
          instead(" that is never answered", { ...call, answeredAtMs: null }),
          instead(" that is refused", { ...call, status: 400 }),
          instead(" that nobody waits for", { ...call, answeredAtMs: Number.MAX_VALUE }),
          afterDeletion(calls, index),
        ];
      case "DeleteMessage":
        return [
          ...settlementChanges(call, instead, withInput),
          withInput(" as a wait", { VisibilityTimeout: 1 }, "ChangeMessageVisibility"),
          instead(" before its handler has ended", { ...call, calledAtMs: 0 }),
        ];
      case "ChangeMessageVisibility": {
        const seconds = Number(input["VisibilityTimeout"]);
        return [
          ...settlementChanges(call, instead, withInput),
          withInput(" as a deletion", {}, "DeleteMessage"),
          withInput(" for another time", { VisibilityTimeout: seconds + 60 }),
          ...(seconds === 0 ? [] : [withInput(" for no time", { VisibilityTimeout: 0 })]),
          instead(" before its handler has ended", { ...call, calledAtMs: 0 }),
        ];
      }
      default:
        return [];
    }
  });
}

type Instead = (what: string, ...others: readonly Call[]) => Change<readonly Call[]>;
type WithInput = (what: string, more: Call["input"]) => Change<readonly Call[]>;

function settlementChanges(call: Call, instead: Instead, withInput: WithInput): readonly Change<readonly Call[]>[] {
  return [
    ...onePlaceChangesOf(call.input, { skip }).map(({ what, value }) => instead(what, { ...call, input: value })),
    withInput(" in another queue", { QueueUrl: `${String(call.input["QueueUrl"])}s` }),
    instead(" left out"),
    instead(" twice", call, call),
  ];
}

function copyChanges({ input }: Call, withInput: WithInput): readonly Change<readonly Call[]>[] {
  const attributes = (input["MessageAttributes"] ?? {}) as Readonly<Record<string, object>>;
  const needed = Object.keys(attributes).filter(
    (name) => !name.startsWith("dlq-") || ["dlq-original-queue", "dlq-failure-reason"].includes(name),
  );
  return [
    ...needed.map((name) => {
      const { [name]: _, ...rest } = attributes;
      return withInput(` without ${name}`, { MessageAttributes: rest });
    }),
    withInput(" with one more attribute", {
      MessageAttributes: { ...attributes, more: { DataType: "String", StringValue: "b" } },
    }),
    withInput(" with a delay", { DelaySeconds: 5 }),
  ];
}

/** The message is deleted before its copy is sent. */
function afterDeletion(calls: readonly Call[], index: number): Change<readonly Call[]> {
  const copy = calls[index] as Call;
  const received = calls.flatMap(({ output }) => (output["Messages"] ?? []) as readonly Record<string, unknown>[]);
  const own = received.filter(({ Body }) => Body === copy.input["MessageBody"]);
  const receipts = new Set(own.map(({ ReceiptHandle }) => ReceiptHandle));
  const deletion = calls.findIndex(
    ({ operation, input }, at) => at > index && operation === "DeleteMessage" && receipts.has(input["ReceiptHandle"]),
  );
  const order = calls.flatMap((call, at) => {
    if (at === deletion) return [];
    return at === index ? [calls[deletion] as Call, call] : [call];
  });
  return { what: `SendMessage after the message was deleted (call ${index})`, value: order };
}
