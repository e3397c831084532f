import { setImmediate as nextTurn } from "node:timers/promises";

import { permanent, retryAfter } from "redeliver/consume";

import { operationsAfter } from "../../../src/contract/interpret.ts";
import type { BrokerContract } from "../../../src/contract/contract.ts";
import type { Decision } from "../drive.ts";

/** The fate of one attempt on a message. */
export interface Fate {
  readonly decision: Decision;
  /** The reason on a dead letter, if it differs from the contract's. */
  readonly reason?: string;
  /** The delay that the handler asks for, with or without support in the contract. */
  readonly askMs?: number;
  readonly means:
    | "returns"
    | "throws"
    | "throws by name"
    | "throws a reason"
    | "asks"
    | "takes too long"
    | "never ends";
}

const kinds = ["success", "permanent", "named", "reasoned", "late", "asks", "asks-more", "asks-most"] as const;
type Kind = (typeof kinds)[number] | "return";

/** Each delay that handlers ask for here is different. The last is more than the contract allows. */
const askedMs = { asks: 70, "asks-more": 1_000, "asks-most": 7_200_000 } as const;
/** The longest delay that handlers may ask for. It is short, because a test waits for it. Its first step is shorter. */
export const askingDeclared = { retryAfter: { max: "2s" } } as const;

/** Declared as permanent by its name. */
class ValidationError extends Error {
  override readonly name = "ValidationError";
}

/** The declaration that lets messages end like this. Messages that are returned come back at once. */
export const everyEndingDeclared = { errors: { permanent: ["ValidationError"] } } as const;
export const lateDeclared = { handlerTimeout: "300ms" } as const;

/** No handler sees a message with an unreadable body. */
export const unreadable = { name: "unreadable", body: "{ broken", reason: "UNREADABLE_MESSAGE" } as const;

/** Names of messages that together end in every way after each number of attempts. Before that they fail. */
export function everyEnding(attempts: number): readonly string[] {
  return [...kinds.flatMap((kind) => afterEach(kind, attempts)), `success ${attempts + 1}`];
}

/** The messages that the consumer stops on in their last attempt. */
export function everyReturn(attempts: number): readonly string[] {
  return afterEach("return", attempts);
}

function afterEach(kind: Kind, attempts: number): readonly string[] {
  return Array.from({ length: attempts }, (_, index) => `${kind} ${index + 1}`);
}

/**
 * The fate of an attempt on one of these messages. @param hasDelays true if the contract lets handlers ask for delays
 */
export function fateOf(name: string, attempt: number, hasDelays: boolean): Fate {
  const [kind, at] = name.split(" ") as [Kind, string];
  if (attempt < Number(at)) return { decision: "transient", means: "throws" };
  if (attempt > Number(at)) return { decision: "success", means: "returns" };
  switch (kind) {
    case "success":
      return { decision: "success", means: "returns" };
    case "permanent":
      return { decision: "permanent", reason: "PERMANENT_FAILURE", means: "throws a reason" };
    case "named":
      return { decision: "permanent", means: "throws by name" };
    case "reasoned":
      return { decision: "permanent", reason: "UNKNOWN_CUSTOMER", means: "throws a reason" };
    case "late":
      return { decision: "transient", means: "takes too long" };
    case "asks":
    case "asks-more":
    case "asks-most": {
      const askMs = askedMs[kind] + attempt;
      return { decision: hasDelays ? { askMs } : "transient", askMs, means: "asks" };
    }
    case "return":
      return { decision: "return", means: "never ends" };
    default:
      return kind satisfies never;
  }
}

/** The end of an attempt, for a comparison with a contract. */
export type Ends =
  | "success"
  | "transient"
  | "permanent"
  | "return"
  | { readonly askMs: number }
  | { readonly permanent: string };

/** The same, from the body of the message: a JSON string, but for the unreadable one. */
export function endsOf(body: string, attempt: number, hasDelays: boolean): Ends {
  if (body === unreadable.body) return { permanent: unreadable.reason };
  const { decision, reason } = fateOf(JSON.parse(body) as string, attempt, hasDelays);
  return reason === undefined ? (decision as Ends) : { permanent: reason };
}

/**
 * The operations of a contract for it. A handler that asks for too much gets the longest delay. Without requested
 * delays in the contract, the attempt has failed.
 */
export function operationsOfEnds<Operation>(
  contract: Pick<BrokerContract<Operation>, "outcomes" | "retryAfter">,
  ends: Ends,
  attempt: number,
): { readonly operations: readonly Operation[]; readonly askedMs: number | null } {
  if (typeof ends === "string" || "permanent" in ends) {
    const outcome = typeof ends === "string" ? ends : "permanent";
    return { operations: operationsAfter(contract.outcomes[outcome], attempt), askedMs: null };
  }
  const steps = contract.retryAfter ?? [];
  const step = steps.find(({ upToMs }) => upToMs >= ends.askMs) ?? steps.at(-1);
  if (step === undefined) return operationsOfEnds(contract, "transient", attempt);
  return { operations: operationsAfter(step, attempt), askedMs: Math.min(ends.askMs, step.upToMs) };
}

/** The number of all attempts on messages of these names. */
export function attemptsInAll(names: readonly string[], attempts: number): number {
  const each = names.map((name) => {
    const [kind, at] = name.split(" ") as [Kind, string];
    const isOverThen = kind !== "late" && !kind.startsWith("asks");
    return Math.min(attempts, isOverThen ? Number(at) : Number(at) + 1);
  });
  return each.reduce((sum, count) => sum + count, 0);
}

/**
 * Acts as a handler with a given fate. It waits for no timer, so that even on a busy machine only the intended attempts
 * take too long.
 *
 * @param ended called when the attempt is over for the consumer
 */
export async function meet(
  { means, reason = "", askMs = 0 }: Fate,
  signal: AbortSignal,
  ended: () => void,
): Promise<void> {
  await nextTurn();
  switch (means) {
    case "never ends":
      return new Promise(() => undefined);
    case "takes too long":
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          ended();
          resolve();
        }),
      );
    case "returns":
      ended();
      return undefined;
    case "throws":
      ended();
      throw new Error("again");
    case "throws by name":
      ended();
      throw new Error("outer", { cause: new ValidationError("no such field") });
    case "throws a reason":
      ended();
      throw permanent(reason);
    case "asks":
      ended();
      throw retryAfter(`${BigInt(askMs)}ms`);
    default:
      means satisfies never;
  }
}
