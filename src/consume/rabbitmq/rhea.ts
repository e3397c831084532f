import rhea from "rhea";
import type { Connection, Delivery as RheaDelivery } from "rhea";

import { refused } from "../../diagnostics/render.ts";
import type { Adapter, Delivery, Opening, Session, SettleValues } from "../adapter.ts";
import { inTime } from "../long-timer.ts";
import { annotationNamed } from "./annotation-name.ts";
import { checkByAmqp10 } from "./check-amqp-1-0.ts";
import { connectByAmqp10, endConnection } from "./connect-amqp-1-0.ts";
import { virtualHostIn } from "./connection.ts";
import type { Contract, ModifiedOperation, Operation } from "./contract.ts";
import { chosenMs } from "./contract.ts";
import type { Login } from "./credentials.ts";
import { askLogin } from "./credentials.ts";
import { createIntake, mostHandlersOn } from "./intake.ts";
import type { Intake } from "./intake.ts";
import { readDelivery10 } from "./read-delivery-1-0.ts";
import { connectToOne } from "./nodes.ts";
import { noAnswer, queueAnswersWithinMs, queueRefused } from "./queue-refusals.ts";
import { refusalOf } from "./refusals.ts";
import { putToken } from "./renew-amqp-1-0.ts";
import type { Renewal } from "./renewal.ts";
import { keepRenewed } from "./renewal.ts";

/** RabbitMQ 4 by AMQP 1.0, with rhea. */
export const rheaAdapter: Adapter<"rabbitmq"> = { check: checkByAmqp10, open, refusal: refusalOf, unstarted: "hold" };

/** A connection, and the session on it. */
interface Part extends Session {
  readonly connection: Connection;
  /** How many handlers it gives messages to. */
  readonly concurrency: number;
}

/**
 * Opens as many connections as the handlers take: on one with fewer sessions than handlers, long ones could keep all sessions from ending, and nothing
 * more would be taken. When one of them is lost, all are.
 */
async function open(opening: Opening<"rabbitmq">): Promise<Session> {
  let isLost = false;
  const lost = (cause: unknown): void => {
    if (isLost) return;
    isLost = true;
    opening.listener.lost(cause);
  };
  const parts: Part[] = [];
  try {
    for (let rest = opening.concurrency; rest > 0; rest -= parts.at(-1)?.concurrency ?? rest) {
      parts.push(await openPart({ ...opening, concurrency: rest, listener: { ...opening.listener, lost } }));
    }
  } catch (error) {
    await Promise.all(parts.map((part) => part.close(0)));
    throw error;
  }
  return together(parts);
}

function together(parts: readonly Part[]): Session {
  return {
    resume: async () => void (await Promise.all(parts.map((part) => part.resume()))),
    pause: async () => void (await Promise.all(parts.map((part) => part.pause()))),
    settle: (delivery, operations, values) => {
      const { delivery: raw } = delivery.raw as { readonly delivery: RheaDelivery };
      return parts.find(({ connection }) => connection === raw.link.connection)?.settle(delivery, operations, values);
    },
    close: async (withinMs) => void (await Promise.all(parts.map((part) => part.close(withinMs)))),
  };
}

async function openPart(opening: Opening<"rabbitmq">): Promise<Part> {
  const { contract, listener, givenUp } = opening;
  const over = Promise.withResolvers<never>();
  // Once it is open, nobody waits for it.
  over.promise.catch(() => undefined);
  let renewal: Renewal | null = null;
  let isOver = false;
  const end = (cause: unknown): void => {
    if (isOver) return;
    isOver = true;
    renewal?.stop();
    over.reject(cause);
    listener.lost(cause);
  };
  const login = await askLogin(opening.connection, givenUp);
  const { connected: connection, url } = await connectToOne(opening.connection, givenUp, (node) =>
    connectByAmqp10(node, login, end, givenUp),
  );
  try {
    const concurrency = Math.min(opening.concurrency, mostHandlersOn(connection));
    const attaching = createIntake(connection, queueOf(contract), concurrency, {
      delivered: (context) => {
        if (context.delivery === undefined || context.message === undefined) return;
        listener.delivered(readDelivery10(context.message, context.delivery));
      },
      lost: end,
    });
    const late = (): Error => refused([noAnswer(queueOf(contract))]);
    const intake = await inTime(queueAnswersWithinMs, Promise.race([attaching, over.promise]), late, givenUp);
    const give = ({ password }: Login): Promise<void> => putToken(connection, password);
    const kept = keepRenewed(login, opening.connection, give, listener.report);
    renewal = kept;
    // What ends the connection may come with what opens it.
    if (isOver) kept.stop();
    return {
      connection,
      concurrency,
      resume: async () => intake.resume(),
      pause: () => intake.pause(),
      settle: (delivery, operations, values) => {
        for (const operation of operations as readonly Operation[]) settle(intake, delivery, operation, values);
        return undefined;
      },
      close: async (withinMs) => {
        isOver = true;
        kept.stop();
        await endConnection(connection, withinMs);
      },
    };
  } catch (error) {
    isOver = true;
    await endConnection(connection, 0);
    throw queueRefused(queueOf(contract), virtualHostIn(url), error);
  }
}

function queueOf({ workQueue }: Contract): string {
  if (workQueue === null) throw new Error("the contract has no work queue");
  return workQueue;
}

function settle(intake: Intake, delivery: Delivery, operation: Operation, values: SettleValues): void {
  const { delivery: raw } = delivery.raw as { readonly delivery: RheaDelivery };
  switch (operation.operation) {
    case "accepted":
      intake.settle(raw, "accepted", () => raw.accept());
      return;
    case "released":
      intake.settle(raw, "other", () => raw.release());
      return;
    case "modified":
      intake.settle(raw, "other", () => modify(raw, operation, values));
      return;
    case "basic.ack":
    case "basic.nack":
    case "basic.reject":
    case "basic.publish":
      throw new Error(`${operation.operation} is no outcome of AMQP 1.0`);
    default:
      operation satisfies never;
  }
}

function modify(raw: RheaDelivery, operation: ModifiedOperation, values: SettleValues): void {
  const annotations: Record<string, unknown> = { ...operation.messageAnnotations };
  const told = operation.messageAnnotations === undefined ? {} : values.deadLetter;
  for (const [name, value] of Object.entries({ ...told, ...values.carried }))
    annotations[annotationNamed(name)] = value;
  if (operation.deliveryTimeMs !== undefined) {
    const delayMs = chosenMs(operation.deliveryTimeMs, values.askedDelayMs);
    annotations["x-opt-delivery-time"] = rhea.types.wrap_long(Date.now() + delayMs);
  }
  raw.modified({
    delivery_failed: operation.deliveryFailed,
    undeliverable_here: operation.undeliverableHere,
    ...(Object.keys(annotations).length === 0 ? {} : { message_annotations: annotations }),
  } as Parameters<RheaDelivery["modified"]>[0]);
}
