import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";

import type { Connection, Delivery as RheaDelivery } from "rhea";

import { refused } from "../../../../diagnostics/render.ts";
import type { Feed } from "../../../../consume/port/adapter.ts";
import type { Adapter, Opening } from "../port.ts";
import { inTime } from "../../../../consume/port/long-timer.ts";
import { checkByAmqp10 } from "./check.ts";
import { connectByAmqp10, endConnection } from "./connect.ts";
import { urlsOf, virtualHostIn } from "../connection.ts";
import type { Contract } from "../../compile/contract.ts";
import { type Login, askLogin } from "../credentials.ts";
import { askByManagementNode, watchForCut } from "./cut-off.ts";
import { createIntake, mostHandlersOn } from "./intake.ts";
import { type DeliveryTimes, createDeliveryTimes } from "./delivery-time.ts";
import { bytesReadOn, listenTo } from "../listen.ts";
import { connectToOne, leave } from "../nodes.ts";
import { watchKeptDeadLetters } from "../deployed/dead-letters-kept.ts";
import { noAnswer, queueRefused } from "../queue-refusals.ts";
import { perform, receive } from "./outcomes.ts";
import { refusalOf } from "../refusals.ts";
import { putToken } from "./renew.ts";
import { keepRenewed } from "../renewal.ts";

/** RabbitMQ 4 by AMQP 1.0, with rhea. */
export const adapter: Adapter = { check: checkByAmqp10, open, refusal: refusalOf, unstarted: "hold" };

/**
 * With more handlers, all sessions of a connection but the token's may be in use. Then none is left to ask for the
 * queue.
 */
const mostThatLeaveASession = 60;

/** This process, in the annotations of its retries. */
const self = randomBytes(6).toString("base64url");

/** Fields of a connection that rhea's types leave out. */
interface Inner {
  readonly socket: Duplex;
  readonly local: { readonly open: { readonly idle_time_out: number } };
}

/** A connection, and the session on it. */
interface Part extends Feed {
  readonly connection: Connection;
  /** The number of handlers that it feeds. */
  readonly concurrency: number;
  readonly isOver: () => boolean;
}

/**
 * When one connection is lost, the others have this time to detach from the queue. A message that a detached consumer
 * had comes back at no cost. If its connection is cut, it has one attempt less. In the moment before, the queue may also
 * have given them the messages of the lost one. Source: `maybe_return_all/6` in `rabbit_fifo.erl` (4.3.5).
 */
const detachesWithinMs = 2_000;

/**
 * Opens as many connections as the handlers need. If a connection had fewer sessions than handlers, long handlers could
 * keep all its sessions open, and no more messages would come. When one connection is lost, all are.
 */
async function open(opening: Opening): Promise<Feed> {
  let isLost = false;
  let loginNow: Login | null = null;
  const stopLooking = watchKeptDeadLetters(opening, () => loginNow);
  const lost = (cause: unknown): void => {
    if (isLost) return;
    isLost = true;
    stopLooking();
    opening.listener.lost(cause);
  };
  const times = createDeliveryTimes({ monotonicMs: () => performance.now(), wallMs: () => Date.now(), self });
  const parts: Part[] = [];
  try {
    for (let rest = opening.concurrency; rest > 0; rest -= parts.at(-1)?.concurrency ?? rest) {
      const part = { ...opening, concurrency: rest, listener: { ...opening.listener, lost } };
      parts.push(
        await openPart(part, times, (login) => {
          loginNow = login;
        }),
      );
    }
  } catch (error) {
    stopLooking();
    await Promise.all(parts.map((part) => part.close(0)));
    throw error;
  }
  return together(parts, stopLooking);
}

function together(parts: readonly Part[], stopLooking: () => void): Feed {
  return {
    resume: async (most) => {
      let rest = most;
      for (const part of parts) {
        const share = Math.min(rest, part.concurrency);
        rest -= share;
        if (share > 0) await part.resume(share);
      }
    },
    pause: async () => void (await Promise.all(parts.map((part) => part.pause()))),
    settle: (delivery, operations, values) => {
      const { delivery: raw } = delivery.raw as { readonly delivery: RheaDelivery };
      return parts.find(({ connection }) => connection === raw.link.connection)?.settle(delivery, operations, values);
    },
    settled: async () => void (await Promise.all(parts.map((part) => part.settled?.()))),
    close: async (withinMs) => {
      stopLooking();
      await Promise.all(parts.map((part) => closeOne(part, withinMs)));
    },
  };
}

function closeOne(part: Part, withinMs: number): Promise<void> {
  return part.close(part.isOver() ? withinMs : Math.max(withinMs, detachesWithinMs));
}

async function openPart(opening: Opening, times: DeliveryTimes, given: (login: Login | null) => void): Promise<Part> {
  const { contract, listener, givenUp, acceptsWithinMs } = opening;
  const over = Promise.withResolvers<never>();
  // Once the feed is open, a rejection here has no listener, so it is caught.
  over.promise.catch(() => undefined);
  const endings: (() => void)[] = [];
  let isOver = false;
  const end = (cause: unknown): void => {
    if (isOver) return;
    isOver = true;
    for (const each of endings) each();
    over.reject(cause);
    listener.lost(cause);
  };
  const login = await askLogin(opening.connection, givenUp);
  given(login);
  const { connected: connection, node } = await connectToOne(opening.connection, givenUp, (each) =>
    connectByAmqp10(each, login, end, givenUp),
  );
  try {
    const concurrency = Math.min(opening.concurrency, mostHandlersOn(connection));
    const attaching = createIntake(connection, queueOf(contract), concurrency, {
      delivered: (context) => {
        receive(intake, times, context, listener.delivered);
      },
      lost: end,
    });
    const left = <Cause>(cause: Cause): Cause => {
      leave(opening.connection, node.url);
      return cause;
    };
    const late = (): Error => left(refused([noAnswer(queueOf(contract), acceptsWithinMs)]));
    const intake = await inTime(acceptsWithinMs, Promise.race([attaching, over.promise]), late, givenUp);
    const give = (renewed: Login): Promise<void> => {
      given(renewed);
      return putToken(connection, renewed.password);
    };
    endings.push(keepRenewed(login, opening.connection, give, listener.report).stop);
    const { socket, local } = connection as unknown as Inner;
    if (urlsOf(opening.connection).length > 1 && concurrency <= mostThatLeaveASession) {
      const leaveNode = (cause: unknown): void => end(left(cause));
      const queue = queueOf(contract);
      const ask = askByManagementNode(connection, queue);
      const bytesRead = (): number => bytesReadOn(socket);
      endings.push(watchForCut({ queue, ask, hungryMs: intake.hungryMs, bytesRead }, leaveNode));
    }
    endings.push(listenTo(socket, local.open.idle_time_out, listener.answers, end));
    // The connection may end in the same turn in which it opens.
    if (isOver) for (const each of endings) each();
    return {
      connection,
      concurrency,
      isOver: () => isOver,
      resume: async (most) => intake.resume(most),
      pause: intake.pause,
      settled: intake.detach,
      settle: (delivery, operations, values) => perform(intake, times, delivery, operations, values),
      close: async (withinMs) => {
        isOver = true;
        for (const each of endings) each();
        void intake.detach();
        await endConnection(connection, withinMs);
      },
    };
  } catch (error) {
    isOver = true;
    await endConnection(connection, 0);
    throw queueRefused(contract, queueOf(contract), virtualHostIn(node.url), error);
  }
}

function queueOf({ workQueue }: Contract): string {
  if (workQueue === null) throw new Error("the contract has no work queue");
  return workQueue;
}
