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

/** The calls of a consumer with one fault, for some of the calls that settle a message. */
export function callChangesOf(
  calls: readonly Call[],
  isLookedAt: (call: Call) => boolean,
): readonly Change<readonly Call[]>[] {
  return calls.flatMap((call, index) => {
    if (!["SendMessage", "DeleteMessage", "ChangeMessageVisibility"].includes(call.operation) || !isLookedAt(call))
      return [];
    const instead = (what: string, ...others: readonly Call[]): Change<readonly Call[]> => ({
      what: `${call.operation}${what} (call ${index})`,
      value: [...calls.slice(0, index), ...others, ...calls.slice(index + 1)],
    });
    const inputs = onePlaceChangesOf(call.input, { skip });
    const seconds = call.input["VisibilityTimeout"];
    const later = { ...call, input: { ...call.input, VisibilityTimeout: Number(seconds) + 60 } };
    const elsewhere = { ...call, input: { ...call.input, QueueUrl: `${String(call.input["QueueUrl"])}s` } };
    return [
      ...inputs.map(({ what, value }) => instead(what, { ...call, input: value })),
      instead(" in another queue", elsewhere),
      ...(seconds === undefined ? [] : [instead(" for another time", later)]),
      instead(" left out"),
      instead(" twice", call, call),
      ...(call.operation === "SendMessage"
        ? []
        : [instead(" before its handler has ended", { ...call, calledAtMs: 0 })]),
      ...(call.operation === "SendMessage"
        ? [
            instead(" that is never answered", { ...call, answeredAtMs: null }),
            instead(" that is refused", { ...call, status: 400 }),
            instead(" that nobody waits for", { ...call, answeredAtMs: Number.MAX_VALUE }),
          ]
        : []),
    ];
  });
}
