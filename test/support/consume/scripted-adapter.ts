import type { Adapter, Delivery, Feed, FeedListener } from "../../../src/consume/port/adapter.ts";
import { NotOursError } from "../../../src/consume/port/adapter.ts";

/**
 * The end of one call to the broker, and its time. `throws`: before there is a promise; `at-once`: without one;
 * `never`: not at all.
 */
export interface CallFate {
  readonly ends: "well" | "at-once" | "rejects" | "throws" | "not-ours" | "never";
  readonly afterMs: number;
}

/**
 * The fate of a try to connect. `lost-meanwhile` loses the connection before it has its session. `hangs` ends when
 * the consumer gives up. `deaf` does not notice that and opens long after. The first connection of a consumer always
 * opens, because the consumer could not be stopped before.
 */
export type OpenFate = "opens" | "fails" | "lost-meanwhile" | "hangs" | "deaf";

const deafMs = 20_000;

/** The broker's behaviour, call by call. Calls beyond the script succeed. */
export interface Script {
  readonly opens: readonly OpenFate[];
  readonly settles: readonly CallFate[];
  readonly resumes: readonly CallFate[];
  readonly pauses: readonly CallFate[];
  readonly closes: readonly CallFate[];
  readonly unstarted: Adapter["unstarted"];
}

/** A connection from the broker's side. */
interface Connection {
  readonly listener: FeedListener;
  isTaking: boolean;
  isOver: boolean;
  closes: number;
  /** Deliveries without an answer, and deliveries with one. */
  readonly fates: Map<Delivery, "held" | "being-settled" | "settled">;
}

export interface ScriptedBroker {
  readonly adapter: Adapter;
  /** Gives a message to a consumer that takes one. @returns null if there is none */
  readonly deliver: (id: string, attempt: number, carrier?: Delivery["carrier"]) => Delivery | null;
  readonly cut: () => void;
  readonly connections: readonly Connection[];
  /** The time that each try to connect left the broker to accept the consumer. */
  readonly acceptsWithinMs: readonly number[];
  /** Breaches that make a real broker close the channel or do something twice. */
  readonly breaches: readonly string[];
  /** Calls of the consumer that have not ended. */
  readonly underWay: () => number;
}

const well: CallFate = { ends: "well", afterMs: 1 };

/** A broker that follows a script and records forbidden actions of a consumer. Its clock is that of `setTimeout`. */
export function createScriptedBroker(script: Script): ScriptedBroker {
  const connections: Connection[] = [];
  const acceptances: number[] = [];
  const breaches: string[] = [];
  let underWay = 0;
  const calls = { opens: 0, settles: 0, resumes: 0, pauses: 0, closes: 0 };
  const fateOf = (kind: "settles" | "resumes" | "pauses" | "closes"): CallFate => script[kind][calls[kind]++] ?? well;
  const promised = ({ ends, afterMs }: CallFate, done: () => void): Promise<void> => {
    underWay += ends === "never" ? 0 : 1;
    return new Promise((resolve, reject) => {
      if (ends === "never") return;
      setTimeout(() => {
        underWay -= 1;
        if (ends === "well" || ends === "at-once") {
          done();
          resolve();
        } else reject(ends === "not-ours" ? new NotOursError(null) : new Error("the broker refuses"));
      }, afterMs);
    });
  };

  const sessionOf = (connection: Connection): Feed => {
    const inUse = (call: string): void => {
      if (connection.closes > 0) breaches.push(`${call} after close`);
    };
    return {
      resume: () => {
        inUse("resume");
        const fate = fateOf("resumes");
        // A consumer that has not begun could not be stopped.
        return promised(calls.resumes === 1 && fate.ends === "never" ? well : fate, () => {
          connection.isTaking = true;
        });
      },
      pause: () => {
        inUse("pause");
        return promised(fateOf("pauses"), () => {
          connection.isTaking = false;
        });
      },
      settle: (delivery) => {
        inUse("settle");
        const state = connection.fates.get(delivery);
        if (state !== "held") breaches.push(`settle of a delivery that is ${state ?? "another connection's"}`);
        const fate = fateOf("settles");
        if (fate.ends === "throws") throw new Error("the broker refuses");
        connection.fates.set(delivery, fate.ends === "at-once" ? "settled" : "being-settled");
        if (fate.ends === "at-once") return undefined;
        const settled = promised(fate, () => connection.fates.set(delivery, "settled"));
        return settled.catch((error: unknown) => {
          connection.fates.set(delivery, "held");
          throw error;
        });
      },
      close: () => {
        connection.closes += 1;
        connection.isOver = true;
        return promised(fateOf("closes"), () => undefined);
      },
    };
  };

  return {
    connections,
    acceptsWithinMs: acceptances,
    breaches,
    underWay: () => underWay,
    adapter: {
      check: async () => undefined,
      unstarted: script.unstarted,
      open: async ({ listener, givenUp, acceptsWithinMs }) => {
        acceptances.push(acceptsWithinMs);
        const isFirst = calls.opens === 0;
        const fate = script.opens[calls.opens++] ?? "opens";
        if (fate === "hangs" && !isFirst) {
          underWay += 1;
          await new Promise((resolve) => givenUp.addEventListener("abort", resolve));
          underWay -= 1;
          throw new Error("given up");
        }
        await promised({ ...well, afterMs: fate === "deaf" && !isFirst ? deafMs : well.afterMs }, () => undefined);
        if (fate === "fails") throw new Error("nobody answers");
        const connection: Connection = { listener, isTaking: false, isOver: false, closes: 0, fates: new Map() };
        connections.push(connection);
        if (fate === "lost-meanwhile") {
          connection.isOver = true;
          listener.lost(new Error("cut before it was open"));
        }
        return sessionOf(connection);
      },
    },
    deliver: (id, attempt, carrier = {}) => {
      const connection = connections.findLast((each) => each.isTaking && !each.isOver);
      if (connection === undefined) return null;
      const delivery = deliveryOf(id, attempt, carrier);
      connection.fates.set(delivery, "held");
      connection.listener.delivered(delivery);
      return delivery;
    },
    cut: () => {
      const connection = connections.findLast((each) => !each.isOver);
      if (connection === undefined) return;
      connection.isOver = true;
      connection.listener.lost(new Error("cut"));
    },
  };
}

function deliveryOf(id: string, attempt: number, carrier: Delivery["carrier"]): Delivery {
  return {
    id,
    attempt,
    body: "{}",
    routingKey: null,
    headers: {},
    carrier,
    publishedAt: null,
    correlationId: null,
    raw: null,
  };
}
