import type { Connection, EventContext, Session, Typed } from "rhea";

/** Both links of a pair have one name. Source: RabbitMQ's own clients, and `rabbit_amqp_management` (4.1 and later). */
const pair = { name: "management-link-pair", properties: { paired: true } };
const node = { source: { address: "/management" }, target: { address: "/management" } };

interface Request {
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly body: Typed | null;
}

interface Response {
  /** As in HTTP. */
  readonly status: string;
  readonly body: unknown;
}

/**
 * Asks the broker's management node, which answers requests on a connection of AMQP 1.0. It uses a separate session: if
 * the broker ends that one, the others stay. The owner of the connection handles a cut in the meantime.
 *
 * @throws if the broker ends the session, as it does for a user without the permission
 */
export async function askManagementNode(connection: Connection, request: Request): Promise<Response> {
  const session = connection.create_session();
  session.begin();
  try {
    return await new Promise<Response>((resolve, reject) => {
      const fail = (): void => reject((session.error ?? new Error("the broker refuses the request")) as Error);
      for (const name of ["session_error", "session_close"]) session.on(name, fail);
      send(session, request, ({ message }) =>
        resolve({ status: String(message?.subject), body: message?.body as unknown }),
      );
    });
  } finally {
    session.close();
  }
}

function send(session: Session, { method, path, body }: Request, answered: (context: EventContext) => void): void {
  // Its messages are settled when they are sent.
  const sender = session.open_sender({ ...pair, ...node, snd_settle_mode: 1 });
  const say = (): void => {
    if (sender.is_open()) sender.send({ message_id: "1", to: path, subject: method, reply_to: "$me", body });
  };
  // rhea finds links by their names alone. So the second link with the same name waits until the first is open.
  sender.once("sender_open", () => {
    const receiver = session.open_receiver({ ...pair, ...node, credit_window: 0 });
    receiver.once("message", answered);
    // The broker ends the session if a request comes to half a pair, or if it has no credit to answer. The library rhea
    // writes the requests of one turn of the event loop before the credit.
    receiver.once("receiver_open", () => {
      receiver.add_credit(1);
      setImmediate(() => {
        if (sender.sendable()) say();
        else sender.once("sendable", say);
      });
    });
  });
}
