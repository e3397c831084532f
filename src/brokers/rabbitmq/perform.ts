import { waysOf } from "../contract.ts";
import type { Operation, PublishOperation } from "./contract.ts";
import type { MessageState, Publication, Semantics } from "./semantics.ts";

/**
 * Does an outcome's operations one after the other. A copy that has no route comes back to the publisher (mandatory), who
 * then does not go on: the message stays unsettled.
 */
export function perform(
  semantics: Semantics,
  state: MessageState,
  operations: readonly Operation[],
): readonly (readonly MessageState[])[] {
  let alternatives: { copies: readonly MessageState[]; original: MessageState; stopped: boolean }[] = [
    { copies: [], original: state, stopped: false },
  ];
  for (const operation of operations) {
    alternatives = alternatives.flatMap((alternative) => {
      if (alternative.stopped) return [alternative];
      const { copies, original } = alternative;
      if (operation.operation === "basic.publish") {
        return waysOf(operation).flatMap((way) =>
          semantics.publish(publicationOf(original, way)).map((published) => {
            const arrived = published.every((each) => each.place.kind === "queue");
            return arrived
              ? { copies: [...copies, ...published], original, stopped: false }
              : { copies, original, stopped: true };
          }),
        );
      }
      return semantics.step(original, eventOf(operation)).map((after) => {
        const [first, ...others] = after;
        return { copies: [...copies, ...others], original: first ?? original, stopped: false };
      });
    });
  }
  return alternatives.map(({ copies, original }) => [...copies, original]);
}

function publicationOf(
  original: MessageState,
  { exchange, routingKey, headers = {}, expirationMs, removeHeaders }: PublishOperation,
): Publication {
  const kept = Object.entries(original.headers).filter(([name]) => !removeHeaders.includes(name));
  return {
    exchange,
    routingKey,
    headers: { ...Object.fromEntries(kept), ...headers },
    // The shortest time that the contract allows: nothing may come earlier. A delay that was asked for is at most the queue's.
    expirationMs: typeof expirationMs === "object" && expirationMs !== null ? expirationMs.from : null,
  };
}

function eventOf(operation: Exclude<Operation, { operation: "basic.publish" }>): Parameters<Semantics["step"]>[1] {
  switch (operation.operation) {
    case "basic.ack":
      return { kind: "ack" };
    case "basic.nack":
      return { kind: "nack", requeue: operation.requeue };
    case "basic.reject":
      return { kind: "reject", requeue: operation.requeue };
    case "accepted":
    case "released":
      return { kind: operation.operation };
    case "modified":
      return {
        kind: "modified",
        deliveryFailed: operation.deliveryFailed,
        undeliverableHere: operation.undeliverableHere,
        deliveryTime: operation.deliveryTimeMs !== undefined,
      };
    default:
      return operation satisfies never;
  }
}
