import { waysOf } from "../../../contract/interpret.ts";
import { performInOrder } from "../../../contract/perform.ts";
import type { Operation, PublishOperation } from "../compile/contract.ts";
import type { MessageState, Publication, Semantics } from "./semantics.ts";

/**
 * Does the operations of an outcome in order. The broker returns a copy that has no route (mandatory). The publisher
 * then stops, and the message stays unsettled.
 */
export function perform(
  semantics: Semantics,
  state: MessageState,
  operations: readonly Operation[],
): readonly (readonly MessageState[])[] {
  return performInOrder<MessageState, MessageState, Operation>(state, operations, (original, operation) => {
    if (operation.operation === "basic.publish") {
      return waysOf(operation).flatMap((way) =>
        semantics
          .publish(publicationOf(original, way))
          .map((published) =>
            published.every((each) => each.place.kind === "queue") ? { copies: published, original } : "refused",
          ),
      );
    }
    return semantics.step(original, eventOf(operation)).map(([first, ...copies]) => ({
      copies,
      original: first ?? original,
    }));
  }).map(({ copies, original }) => [...copies, original]);
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
    // The shortest time that the contract allows, because no attempt may come earlier. A requested delay is at most the
    // queue's.
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
