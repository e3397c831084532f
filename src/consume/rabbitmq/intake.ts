import type { Connection, Delivery, EventContext, Receiver, Session } from "rhea";

/** Takes deliveries of one queue, through one AMQP session after the other. */
export interface Intake {
  readonly resume: () => void;
  /** Resolves when the broker has said that nothing more comes. */
  readonly pause: () => Promise<void>;
  /** Settles a delivery once. `accepted` ones may share a frame; another outcome never does. */
  readonly settle: (delivery: Delivery, outcome: "accepted" | "other", update: () => void) => void;
}

/**
 * rhea keeps a session's deliveries in a window of 2,048 that moves on only when the oldest of them is settled, and takes nothing beyond it: one
 * handler that runs for long would stop all others. So after so many deliveries the next ones come through a new session.
 * Source: rhea, `lib/session.js`, `CircularBuffer`.
 */
const deliveriesOfASession = 1_024;

interface Lane {
  readonly session: Session;
  readonly receiver: Receiver;
  readonly unsettled: Set<Delivery>;
  received: number;
}

interface IntakeState {
  readonly connection: Connection;
  readonly queue: string;
  readonly concurrency: number;
  readonly listener: IntakeListener;
  /** The last one is that which gets credit. */
  lanes: Lane[];
  isTaking: boolean;
}

interface IntakeListener {
  readonly delivered: (context: EventContext) => void;
  readonly lost: (cause: unknown) => void;
}

/** Attaches to the queue, without credit. Where the broker refuses that, it never resolves, and `lost` is told why. */
export async function createIntake(
  connection: Connection,
  queue: string,
  concurrency: number,
  listener: IntakeListener,
): Promise<Intake> {
  const state: IntakeState = { connection, queue, concurrency, listener, lanes: [], isTaking: false };
  const lane = addLane(state);
  await attached(lane);
  return {
    resume: () => {
      state.isTaking = true;
      giveCredit(state);
    },
    pause: async () => {
      state.isTaking = false;
      await Promise.all(state.lanes.map((each) => drained(each)));
    },
    settle: (delivery, outcome, update) => settle(state, delivery, outcome, update),
  };
}

function addLane(state: IntakeState): Lane {
  // Beyond the deliveries of a session come those that it has credit for when the next one begins.
  const session = state.connection.create_session(2 * deliveriesOfASession + state.concurrency);
  session.begin();
  const receiver = session.open_receiver({
    source: { address: `/queues/${encodeURIComponent(state.queue)}` },
    credit_window: 0,
    autoaccept: false,
    autosettle: false,
  });
  const lane: Lane = { session, receiver, unsettled: new Set(), received: 0 };
  receiver.on("message", (context) => {
    if (context.delivery === undefined) return;
    lane.received += 1;
    lane.unsettled.add(context.delivery);
    if (lane.received === deliveriesOfASession) addLane(state);
    state.listener.delivered(context);
  });
  receiver.on("receiver_close", () => lose(state, lane, receiver.error));
  session.on("session_close", () => lose(state, lane, session.error));
  state.lanes.push(lane);
  return lane;
}

function lose(state: IntakeState, lane: Lane, cause: unknown): void {
  if (state.lanes.includes(lane)) state.listener.lost(cause ?? new Error("the broker has ended the consumer"));
}

function attached({ receiver }: Lane): Promise<void> {
  return new Promise((resolve) => {
    receiver.once("receiver_open", () => {
      // An attach that is refused is answered as if it were taken, without a source, and detached at once.
      if (receiver.source?.address !== undefined) resolve();
    });
  });
}

/** What rhea counts, and its types leave out. */
function creditOf(receiver: Receiver): number {
  return (receiver as unknown as { readonly credit: number }).credit;
}

/** As much credit as handlers are free. */
function giveCredit({ lanes, concurrency, isTaking }: IntakeState): void {
  const newest = lanes.at(-1);
  if (!isTaking || newest === undefined) return;
  const taken = lanes.reduce((sum, { receiver, unsettled }) => sum + creditOf(receiver) + unsettled.size, 0);
  newest.receiver.add_credit(concurrency - taken);
}

function drained({ receiver }: Lane): Promise<void> {
  if (creditOf(receiver) === 0) return Promise.resolve();
  return new Promise((resolve) => {
    receiver.once("receiver_drained", () => {
      (receiver as unknown as { drain: boolean }).drain = false;
      resolve();
    });
    receiver.drain_credit();
  });
}

/**
 * rhea puts outcomes of neighbouring deliveries that are settled in one turn into one frame, and compares only from the third one on whether
 * they are the same: of an acceptance and a failure side by side the failure would be accepted, and lost. So an outcome that is no acceptance goes out
 * alone. Source: rhea, `lib/session.js`, `write_dispositions`.
 */
function settle(state: IntakeState, delivery: Delivery, outcome: "accepted" | "other", update: () => void): void {
  const lane = state.lanes.find((each) => each.unsettled.delete(delivery));
  if (lane === undefined) return;
  if (outcome === "other") writeNow(lane);
  update();
  if (outcome === "other") writeNow(lane);
  if (lane.unsettled.size === 0 && lane !== state.lanes.at(-1) && creditOf(lane.receiver) === 0) {
    state.lanes = state.lanes.filter((each) => each !== lane);
    lane.session.close();
  }
  giveCredit(state);
}

/** Writes the outcomes that are due, so that none of them shares a frame with a later one. */
function writeNow({ session }: Lane): void {
  const { incoming } = session as unknown as { readonly incoming: { process: (session: Session) => void } };
  incoming.process(session);
}
