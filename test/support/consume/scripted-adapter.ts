import type { Adapter, Delivery, Session, SessionListener } from "../../../src/consume/adapter.ts";
import { NotOursError } from "../../../src/consume/adapter.ts";

/** How one call to the broker ends, and after how long. `throws`: before there is a promise; `at-once`: without one; `never`: not at all. */
export interface CallFate {
  readonly ends: "well" | "at-once" | "rejects" | "throws" | "not-ours" | "never";
  readonly afterMs: number;
}

/**
 * What becomes of a try to connect: `lost-meanwhile` is told so before it has its session. `hangs` ends when it is given up, and `deaf` does not know
 * of that and opens long after. The first one of a consumer, before which there is nobody to stop it, opens.
 */
export type OpenFate = "opens" | "fails" | "lost-meanwhile" | "hangs" | "deaf";

const deafMs = 20_000;

/** What the broker does, call by call. What there is no word for any more goes well. */
export interface Script {
  readonly opens: readonly OpenFate[];
  readonly settles: readonly CallFate[];
  readonly resumes: readonly CallFate[];
  readonly pauses: readonly CallFate[];
  readonly closes: readonly CallFate[];
  readonly unstarted: Adapter["unstarted"];
}

/** A connection as the broker sees it. */
interface Connection {
  readonly listener: SessionListener;
  isTaking: boolean;
  isOver: boolean;
  closes: number;
  /** Deliveries that it waits for word of, and those that it has word of. */
  readonly fates: Map<Delivery, "held" | "being-settled" | "settled">;
}

export interface ScriptedBroker {
  readonly adapter: Adapter;
  /** Gives a message to whoever takes some. @returns null where nobody does */
  readonly deliver: (id: string, attempt: number, carrier?: Delivery["carrier"]) => Delivery | null;
  readonly cut: () => void;
  readonly connections: readonly Connection[];
  /** What a real broker would close the channel for, or would do twice. */
  readonly breaches: readonly string[];
  /** Calls that the consumer has made and that have not ended. */
  readonly underWay: () => number;
}

const well: CallFate = { ends: "well", afterMs: 1 };

/** A broker that does what a script says, and notes what a consumer must not do. Its clock is that of `setTimeout`. */
export function createScriptedBroker(script: Script): ScriptedBroker {
  const connections: Connection[] = [];
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

  const sessionOf = (connection: Connection): Session => {
    const inUse = (call: string): void => {
      if (connection.closes > 0) breaches.push(`${call} after close`);
    };
    return {
      resume: () => {
        inUse("resume");
        const fate = fateOf("resumes");
        // Nobody could stop a consumer that has not begun.
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
    breaches,
    underWay: () => underWay,
    adapter: {
      check: async () => undefined,
      unstarted: script.unstarted,
      open: async ({ listener, givenUp }) => {
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
