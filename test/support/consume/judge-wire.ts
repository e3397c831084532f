import type { Contract, Operation, PublishOperation } from "../../../src/index.ts";
import { operationsOf } from "../drive.ts";
import type { Ending } from "../drive.ts";
import type { WireFrame } from "./amqp-proxy.ts";

type Settling = Exclude<WireFrame, { readonly kind: "deliver" }>;

/**
 * Whether what went over the wire for one delivery that was alone in the consumer's hands is exactly what the contract asks for, in that order.
 *
 * @returns null where it is; else both, to be read
 */
export function judgeWire(
  contract: Contract,
  ending: Exclude<Ending, "crash">,
  attempt: number,
  frames: readonly WireFrame[],
): string | null {
  const found = frames.filter((frame): frame is Settling => frame.kind !== "deliver");
  const ways = waysOf(operationsOf(contract.outcomes[ending], attempt)).map((way) => way.flatMap(framesOf));
  const isRight = ways.some(
    (wanted) => wanted.length === found.length && wanted.every((fits, index) => fits.test(found[index] as Settling)),
  );
  if (isRight) return null;
  const wanted = ways.map((way) => way.map((each) => each.text).join(", ")).join(", or ");
  return `wanted ${wanted}; found ${found.map((each) => JSON.stringify(each)).join(", ")}`;
}

/** The operations, once for each place that a copy may go to. */
function waysOf(operations: readonly Operation[]): readonly (readonly Operation[])[] {
  const spread = operations.find((each) => each.operation === "basic.publish")?.spread ?? [];
  const placed = spread.map((place) =>
    operations.map((each) => (each.operation === "basic.publish" ? { ...each, ...place } : each)),
  );
  return [...placed, operations];
}

interface WantedFrame {
  readonly text: string;
  readonly test: (frame: Settling) => boolean;
}

function framesOf(operation: Operation): readonly WantedFrame[] {
  switch (operation.operation) {
    case "basic.ack":
      return [{ text: "ack", test: (frame) => frame.kind === "ack" }];
    case "basic.nack":
      return [
        {
          text: `nack requeue=${operation.requeue}`,
          test: (frame) => frame.kind === "nack" && frame.requeue === operation.requeue && !frame.multiple,
        },
      ];
    case "basic.reject":
      return [
        {
          text: `reject requeue=${operation.requeue}`,
          test: (frame) => frame.kind === "reject" && frame.requeue === operation.requeue,
        },
      ];
    case "basic.publish":
      return [
        {
          text: `publish to ${operation.exchange} ${operation.routingKey}, mandatory`,
          test: (frame) =>
            frame.kind === "publish" &&
            frame.exchange === operation.exchange &&
            frame.routingKey === operation.routingKey &&
            frame.mandatory,
        },
        {
          text: `expiration ${JSON.stringify(operation.expirationMs)}`,
          test: (frame) => frame.kind === "properties" && expires(frame.expiration, operation.expirationMs),
        },
        { text: "confirmed", test: (frame) => frame.kind === "confirmed" },
      ];
    default:
      throw new Error(`${operation.operation} is no operation of AMQP 0-9-1`);
  }
}

function expires(expiration: string | null, wanted: PublishOperation["expirationMs"]): boolean {
  if (wanted === null || wanted === "asked") return expiration === null;
  return expiration !== null && Number(expiration) >= wanted.from && Number(expiration) <= wanted.to;
}
