import rhea from "rhea";
import type { Connection, EventContext, Session } from "rhea";

/** Both links of a pair have one name. Source: RabbitMQ's own clients, and `rabbit_amqp_management` (4.1 and later). */
const pair = { name: "management-link-pair", properties: { paired: true } };
const node = { source: { address: "/management" }, target: { address: "/management" } };

/**
 * Gives the broker a new token for a connection of AMQP 1.0, with a request to its management node: `PUT /auth/tokens`. A connection that is cut
 * meanwhile is its session's business.
 *
 * @throws where the broker refuses it
 */
export async function putToken(connection: Connection, token: string): Promise<void> {
  const session = connection.create_session();
  session.begin();
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (): void => reject((session.error ?? new Error("the broker refuses a new token")) as Error);
      for (const name of ["session_error", "session_close"]) session.on(name, fail);
      request(session, token, ({ message }) => {
        if (message?.subject === "204") resolve();
        else reject(new Error(`the broker refuses a new token (${String(message?.subject)})`));
      });
    });
  } finally {
    session.close();
  }
}

function request(session: Session, token: string, answered: (context: EventContext) => void): void {
  // What it sends is settled with that.
  const sender = session.open_sender({ ...pair, ...node, snd_settle_mode: 1 });
  const send = (): void => {
    if (!sender.is_open()) return;
    const body = rhea.types.wrap_binary(Buffer.from(token));
    sender.send({ message_id: "1", to: "/auth/tokens", subject: "PUT", reply_to: "$me", body });
  };
  // rhea finds links by their names alone, so the second of two with one name waits until the first is there.
  sender.once("sender_open", () => {
    const receiver = session.open_receiver({ ...pair, ...node, credit_window: 0 });
    receiver.once("message", answered);
    // The broker ends the session on a request to half a pair, and on one that it has no credit to answer. rhea writes the requests of one turn
    // of the event loop before the credit.
    receiver.once("receiver_open", () => {
      receiver.add_credit(1);
      setImmediate(() => {
        if (sender.sendable()) send();
        else sender.once("sendable", send);
      });
    });
  });
}
