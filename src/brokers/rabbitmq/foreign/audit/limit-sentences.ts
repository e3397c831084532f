import { nameText } from "../../../../foreign/finding.ts";

/** The settings that decide how to remove the delivery limit of a dead queue. */
export interface LimitAdvice {
  /** Up to 3.13 a negative limit counts as 0. */
  readonly takesNegativeForZero: boolean;
  readonly hasArgument: boolean;
  readonly isArgumentNegative: boolean;
  readonly isPolicyNegative: boolean;
  readonly policies: readonly string[];
}

export const limitTable = {
  RD415: () => ({
    predicate: "has no delivery limit",
    notes: ["a message that crashes its consumer, or that the consumer requeues, comes back at once, for ever"],
    help: "set delivery-limit in a policy, and a dead-letter exchange for messages above it",
  }),
  RD417: ({ limit }: { readonly limit: number }, { delayMs }: { readonly delayMs: number | null }) => ({
    predicate: `has a delivery limit of ${limit} that basic.nack with requeue never reaches`,
    notes: [
      `from 4.3 it counts failures: a lost consumer, and basic.reject with requeue; a consumer that uses basic.nack with requeue gets the message back ${delayMs === null ? "at once" : `after ${delayMs} ms each time`}, for ever`,
    ],
    help: "let the consumer use basic.reject with requeue for a failure, and basic.nack only to return untried messages",
  }),
  RD421: (
    { limit }: { readonly limit: number },
    { countsReturns, advice }: { readonly countsReturns: boolean; readonly advice: LimitAdvice },
  ) => {
    const times = limit === 0 ? "once" : `${limit + 1} times`;
    return {
      predicate: `holds dead letters and has a delivery limit of ${limit}`,
      notes: [
        countsReturns
          ? `a dead letter that is viewed and put back ${times} is deleted`
          : `a dead letter that a viewer rejects with requeue, as the management interface can, or leaves by closing the channel, ${times} is deleted; basic.nack with requeue does not count`,
      ],
      help: limitAdviceText(advice),
    };
  },
  RD430: (_facts: object, { isDeleted }: { readonly isDeleted: boolean }) => ({
    predicate: "has a negative delivery limit, which this version treats as 0",
    notes: [
      `a message that is returned once, or loses its consumer once, is ${isDeleted ? "deleted" : "dead-lettered"}`,
    ],
    help: "leave the limit out for none; only from 4.0 does a negative one mean that",
  }),
  RD438: ({
    maxLength,
    maxLengthBytes,
  }: {
    readonly maxLength: number | null;
    readonly maxLengthBytes: number | null;
  }) => ({
    predicate: `sends messages on before their time when it holds more than ${maxLength === null ? `${maxLengthBytes} bytes` : `${maxLength} messages`}`,
    notes: ["it dead-letters the messages that it drops from its head, so they come back at once"],
    help: "remove the length limit of the wait queue, and limit publishing to the exchange",
  }),
} as const;

/**
 * The way to remove the limit. From 4.0 on, the larger of argument and policy counts if one of them is negative, so
 * both must be negative. Before 4.0, neither may state a limit.
 */
function limitAdviceText(advice: LimitAdvice): string {
  const { takesNegativeForZero, hasArgument, isArgumentNegative, isPolicyNegative, policies } = advice;
  const named = policies.map(nameText).join(" and ");
  if (takesNegativeForZero) {
    const why = isArgumentNegative || isPolicyNegative ? ": this version treats a negative limit as 0" : "";
    const fixes = [
      ...(hasArgument ? ["remove x-delivery-limit when you make the queue again"] : []),
      ...(policies.length === 0 ? [] : [`remove delivery-limit from the policy ${named} for this queue`]),
    ];
    return `${fixes.join(", and ")}${why}`;
  }
  if (policies.length === 0)
    return "set the argument x-delivery-limit to -1 when the queue is made; it cannot be changed later";
  const byPolicy = `give the queue a policy without delivery-limit in place of ${named}`;
  if (isArgumentNegative)
    return `${byPolicy}: the policy's limit overrides the argument -1, because the larger one counts`;
  return `${byPolicy}, and make the queue again with x-delivery-limit -1; with one of the two alone the limit stays`;
}
