import rhea from "rhea";
import type { Delivery as RheaDelivery, EventContext } from "rhea";

import type { Delivery, SettleValues } from "../../../../consume/port/adapter.ts";
import type { AnyOperation } from "../../../../contract/contract.ts";
import { drawnDelay } from "../../../../contract/interpret.ts";
import type { ModifiedOperation, Operation } from "../../compile/contract.ts";
import { annotationNamed } from "./annotation-name.ts";
import type { DeliveryTimes } from "./delivery-time.ts";
import type { Intake } from "./intake.ts";
import { readDelivery10 } from "./read-delivery.ts";

/** The queue counts no failure. */
const notYet = { deliveryFailed: false, undeliverableHere: false } as const;

/** Passes a delivery on. A retry that comes too early goes back to the queue for the rest of its delay. */
export function receive(
  intake: Intake,
  times: DeliveryTimes,
  { delivery: raw, message }: EventContext,
  delivered: (delivery: Delivery) => void,
): void {
  if (raw === undefined || message === undefined) return;
  const delivery = readDelivery10(message, raw);
  // Only a retry has annotations of a consumer. Those of a new message are its publisher's.
  const restMs = delivery.attempt > 1 ? times.restMs(message.message_annotations ?? {}) : 0;
  if (restMs === 0) delivered(delivery);
  else intake.dispose(raw, "other", () => modify(raw, notYet, delayed(times, restMs)));
}

/** Does all operations of a settlement. Nothing has to be waited for. */
export function perform(
  intake: Intake,
  times: DeliveryTimes,
  delivery: Delivery,
  operations: readonly AnyOperation[],
  values: SettleValues,
): undefined {
  const { delivery: raw } = delivery.raw as { readonly delivery: RheaDelivery };
  for (const operation of operations as readonly Operation[]) {
    switch (operation.operation) {
      case "accepted":
        intake.dispose(raw, "accepted", () => raw.accept());
        break;
      case "released":
        intake.dispose(raw, "other", () => raw.release());
        break;
      case "modified":
        intake.dispose(raw, "other", () => modify(raw, operation, annotationsOf(operation, values, times)));
        break;
      case "basic.ack":
      case "basic.nack":
      case "basic.reject":
      case "basic.publish":
        throw new Error(`${operation.operation} is no outcome of AMQP 1.0`);
      default:
        operation satisfies never;
    }
  }
}

function annotationsOf(
  { messageAnnotations, deliveryTimeMs }: ModifiedOperation,
  { deadLetter, carried, askedDelayMs }: SettleValues,
  times: DeliveryTimes,
): Readonly<Record<string, unknown>> {
  const told = { ...(messageAnnotations === undefined ? {} : deadLetter), ...carried };
  return {
    ...messageAnnotations,
    ...Object.fromEntries(Object.entries(told).map(([name, value]) => [annotationNamed(name), value])),
    ...(deliveryTimeMs === undefined ? {} : delayed(times, drawnDelay(deliveryTimeMs, askedDelayMs, Math.random()))),
  };
}

function delayed(times: DeliveryTimes, delayMs: number): Readonly<Record<string, unknown>> {
  const { "x-opt-delivery-time": time, ...others } = times.after(delayMs);
  return { "x-opt-delivery-time": rhea.types.wrap_long(time), ...others };
}

function modify(
  raw: RheaDelivery,
  operation: Pick<ModifiedOperation, "deliveryFailed" | "undeliverableHere">,
  annotations: Readonly<Record<string, unknown>>,
): void {
  raw.modified({
    delivery_failed: operation.deliveryFailed,
    undeliverable_here: operation.undeliverableHere,
    ...(Object.keys(annotations).length === 0 ? {} : { message_annotations: annotations }),
  } as Parameters<RheaDelivery["modified"]>[0]);
}
