import rhea from "rhea";
import type { Connection, Delivery, EventContext, Receiver } from "rhea";

import type { ModifiedOperation } from "../../src/index.ts";
import { between, type DrivenConsumer, type DriveOptions, endingOf, operationsFor, type Seen } from "./drive.ts";
import { connectByAmqp10 } from "./connect-amqp-1-0.ts";

/** The same as `drive`, for consumers that speak AMQP 1.0. A crash is the loss of the connection. */
export async function driveAmqp10(options: DriveOptions): Promise<DrivenConsumer> {
  const seen: Seen[] = [];
  const stopped = { value: false };
  const connections = new Set<Connection>();
  for (let instance = 0; instance < (options.instances ?? 1); instance++)
    startInstance(options, seen, stopped, connections);
  return {
    seen,
    stop: async () => {
      stopped.value = true;
      await Promise.all(
        [...connections].map(
          (connection) =>
            new Promise<void>((resolve) => {
              connection.once("connection_close", () => resolve());
              connection.once("disconnected", () => resolve());
              connection.close();
            }),
        ),
      );
    },
  };
}

function startInstance(
  options: DriveOptions,
  seen: Seen[],
  stopped: { value: boolean },
  connections: Set<Connection>,
): void {
  const connection = connectByAmqp10(options.url);
  connections.add(connection);
  const receiver: Receiver = connection.open_receiver({
    source: { address: `/queues/${encodeURIComponent(options.contract.workQueue ?? "")}` },
    credit_window: 0,
    autoaccept: false,
    autosettle: false,
  });
  receiver.add_credit(1);
  receiver.on("message", (context: EventContext) => {
    const { message, delivery } = context;
    if (message === undefined || delivery === undefined || stopped.value) return;
    const id = String(message.message_id);
    const attempt = Number(message.delivery_count ?? 0) + 1;
    const decision = options.decide({ id, attempt, runs: seen.filter((each) => each.id === id).length });
    const ending = endingOf(decision);
    const routingKey = String(message.message_annotations?.["x-routing-key"] ?? "");
    seen.push({ id, attempt, ending, atMs: Date.now(), routingKey, redelivered: attempt > 1 });
    if (ending === "crash") {
      connections.delete(connection);
      (connection as unknown as { socket: { destroy: () => void } }).socket.destroy();
      startInstance(options, seen, stopped, connections);
      return;
    }
    for (const operation of operationsFor(options.contract, decision, attempt)) {
      switch (operation.operation) {
        case "accepted":
          delivery.accept();
          break;
        case "released":
          delivery.release({ delivery_failed: false, undeliverable_here: false });
          break;
        case "modified":
          modify(delivery, operation);
          break;
        default:
          throw new Error(`${operation.operation} is no outcome of AMQP 1.0`);
      }
    }
    receiver.add_credit(1);
  });
  // rhea reports a deliberately destroyed connection. That is the intended crash.
  connection.on("disconnected", () => undefined);
  connection.on("connection_error", () => undefined);
  // The broker may send messages before it reads the close. rhea reports each as an error.
  connection.on("error", (cause: unknown) => {
    if (!stopped.value) throw cause as Error;
  });
}

function modify(delivery: Delivery, operation: ModifiedOperation): void {
  const annotations: Record<string, unknown> = { ...operation.messageAnnotations };
  const when = operation.deliveryTimeMs;
  if (when === "asked") throw new Error("no handler asked for a delay");
  if (when !== undefined) {
    annotations["x-opt-delivery-time"] = rhea.types.wrap_long(Date.now() + between(when));
  }
  delivery.modified({
    delivery_failed: operation.deliveryFailed,
    undeliverable_here: operation.undeliverableHere,
    ...(Object.keys(annotations).length === 0 ? {} : { message_annotations: annotations }),
  } as Parameters<Delivery["modified"]>[0]);
}
