import { setImmediate as nextTurn } from "node:timers/promises";

import { permanent, retryAfter } from "redeliver/consume";

import { operationsAfter } from "../../../src/brokers/contract.ts";
import type { BrokerContract } from "../../../src/brokers/contract.ts";
import type { Decision } from "../drive.ts";

/** What becomes of one attempt on a message. */
export interface Fate {
  readonly decision: Decision;
  /** What a dead letter says why it died, where that is not what the contract has. */
  readonly reason?: string;
  /** The delay that the handler asks for, be there such a thing or not. */
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

/** Of the delays that handlers ask for here, no two are the same. The last is more than anybody may ask for. */
const askedMs = { asks: 70, "asks-more": 1_000, "asks-most": 7_200_000 } as const;
/** The most that they may ask for, so that more comes back in a test's time; and the first step of it is shorter than that. */
export const askingDeclared = { retryAfter: { max: "2s" } } as const;

/** Declared as permanent by its name. */
class ValidationError extends Error {
  override readonly name = "ValidationError";
}

/** What a consumer has to declare for its messages to be able to end like this. Those that are handed back end in no time. */
export const everyEndingDeclared = { errors: { permanent: ["ValidationError"] } } as const;
export const lateDeclared = { handlerTimeout: "300ms" } as const;

/** Of a body that nobody can read, no handler hears. */
export const unreadable = { name: "unreadable", body: "{ broken", reason: "UNREADABLE_MESSAGE" } as const;

/** Names of messages that together end in every way after each of so many attempts; before it they fail. */
export function everyEnding(attempts: number): readonly string[] {
  return [...kinds.flatMap((kind) => afterEach(kind, attempts)), `success ${attempts + 1}`];
}

/** Those in whose last attempt the consumer stops. */
export function everyReturn(attempts: number): readonly string[] {
  return afterEach("return", attempts);
}

function afterEach(kind: Kind, attempts: number): readonly string[] {
  return Array.from({ length: attempts }, (_, index) => `${kind} ${index + 1}`);
}

/** What becomes of an attempt on one of these messages. @param hasDelays whether the contract lets handlers ask for delays */
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

/** How an attempt ends, for whoever compares it with a contract. */
export type Ends =
  | "success"
  | "transient"
  | "permanent"
  | "return"
  | { readonly askMs: number }
  | { readonly permanent: string };

/** The same, by the body of the message: a JSON string, but for the one that cannot be read. */
export function endsOf(body: string, attempt: number, hasDelays: boolean): Ends {
  if (body === unreadable.body) return { permanent: unreadable.reason };
  const { decision, reason } = fateOf(JSON.parse(body) as string, attempt, hasDelays);
  return reason === undefined ? (decision as Ends) : { permanent: reason };
}

/** The operations that a contract has for it. Who asks for more than there is gets the most; where there are no delays to ask for, it has failed. */
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

/** How often messages of these names are attempted in all. */
export function attemptsInAll(names: readonly string[], attempts: number): number {
  const each = names.map((name) => {
    const [kind, at] = name.split(" ") as [Kind, string];
    const isOverThen = kind !== "late" && !kind.startsWith("asks");
    return Math.min(attempts, isOverThen ? Number(at) : Number(at) + 1);
  });
  return each.reduce((sum, count) => sum + count, 0);
}

/**
 * Does what a handler does that meets a fate. It waits for no timer, so that only what is to take too long does, however busy the machine is.
 *
 * @param ended told when the attempt is over for the consumer
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
