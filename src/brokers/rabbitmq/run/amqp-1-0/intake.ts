import type { Connection, Delivery, EventContext, Receiver, Session } from "rhea";

/** Takes deliveries of one queue, through one AMQP session after the other. */
export type Intake = Awaited<ReturnType<typeof createIntake>>;

/**
 * rhea keeps a session's deliveries in a window of 2,048. The window moves on only when the oldest delivery is settled,
 * so one long handler would stop all others. Therefore a new session takes over after this many deliveries. Source:
 * rhea, `lib/session.js`, `CircularBuffer`.
 */
const deliveriesOfASession = 1_024;

/** The limit of a broker that names none. Source: AMQP 1.0, 2.7.1. */
const specifiedChannelMax = 65_535;

interface Lane {
  readonly session: Session;
  readonly receiver: Receiver;
  readonly unsettled: Set<Delivery>;
  received: number;
}

interface IntakeState {
  /** When the broker last gave a message, or was last asked for one. */
  movedAtMs: number;
  readonly connection: Connection;
  readonly queue: string;
  readonly concurrency: number;
  readonly listener: IntakeListener;
  /** The last one gets the credit. */
  lanes: Lane[];
  /** The number of sessions, with those that the broker has not ended yet. */
  sessions: number;
  /** The number to take at a time. Zero while it pauses. */
  most: number;
  /** Deliveries from before the last pause that are still in hand. */
  former: Set<Delivery>;
}

interface IntakeListener {
  readonly delivered: (context: EventContext) => void;
  readonly lost: (cause: unknown) => void;
}

/** Attaches to the queue, without credit. If the broker refuses, it never resolves, and `lost` gets the reason. */
export async function createIntake(
  connection: Connection,
  queue: string,
  concurrency: number,
  listener: IntakeListener,
) {
  const state: IntakeState = {
    connection,
    queue,
    concurrency,
    listener,
    lanes: [],
    sessions: 0,
    most: 0,
    movedAtMs: 0,
    former: new Set(),
  };
  const lane = addLane(state);
  await attached(lane);
  return {
    /** Takes up to this many at a time from now on. */
    resume: (most: number) => {
      state.most = most;
      state.movedAtMs = performance.now();
      giveCredit(state);
    },
    /** Resolves when the broker has confirmed that no more messages come. */
    pause: async () => {
      state.most = 0;
      state.former = new Set(state.lanes.flatMap((each) => [...each.unsettled]));
      await Promise.all(state.lanes.map(drained));
    },
    /**
     * Detaches from the queue. Settlements before this are sure when it resolves. They are also sure if the connection
     * ends in order right after the call, because the broker does one after the other.
     */
    detach: async () => {
      const { lanes } = state;
      state.lanes = [];
      await Promise.all(lanes.map(detached));
    },
    /** The time for which the broker could have given a message and gave none. */
    hungryMs: () => {
      const isGiven = state.most > 0 && state.lanes.some((each) => countedOf(each).credit > 0);
      return isGiven ? performance.now() - state.movedAtMs : 0;
    },
    /** Settles a delivery once. `accepted` outcomes may share a frame, and any other outcome has its own. */
    dispose: (delivery: Delivery, outcome: "accepted" | "other", update: () => void) =>
      dispose(state, delivery, outcome, update),
  };
}

/**
 * The number of sessions that a connection may use for deliveries: one stays free for a new token. RabbitMQ allows 64
 * in all.
 */
function mostSessionsOn({ channel_max: channelMax = specifiedChannelMax }: Connection): number {
  return Math.max(1, channelMax);
}

/**
 * The number of handlers that one connection may feed: 62 on RabbitMQ. One session is always left beside those that
 * long handlers keep.
 */
export function mostHandlersOn(connection: Connection): number {
  return Math.max(1, mostSessionsOn(connection) - 1);
}

/**
 * The next deliveries come through another session, if the limit allows one: a session beyond it would cost the
 * connection. With fewer handlers than sessions this never blocks, because each older session has a running handler.
 */
function moveOn(state: IntakeState): void {
  const newest = state.lanes.at(-1);
  if (newest === undefined || newest.received < deliveriesOfASession) return;
  if (state.sessions < mostSessionsOn(state.connection)) addLane(state);
}

function addLane(state: IntakeState): Lane {
  // A session gets its own deliveries, and those that it still has credit for when the next session begins.
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
    state.movedAtMs = performance.now();
    lane.received += 1;
    lane.unsettled.add(context.delivery);
    moveOn(state);
    state.listener.delivered(context);
  });
  receiver.on("receiver_drained", () => {
    countedOf(lane).drain = false;
    retire(state, lane);
    giveCredit(state);
  });
  receiver.on("receiver_close", () => lose(state, lane, receiver.error));
  session.on("session_close", () => {
    if (state.lanes.includes(lane)) {
      lose(state, lane, session.error);
      return;
    }
    // We have ended it. rhea reuses its number only after the end of the turn.
    setImmediate(() => {
      state.sessions -= 1;
      moveOn(state);
      giveCredit(state);
    });
  });
  whenTakenBack(lane, () =>
    lose(state, lane, new Error("the broker has taken back a message that was held for too long")),
  );
  state.sessions += 1;
  state.lanes.push(lane);
  return lane;
}

/**
 * RabbitMQ takes back a message that is held longer than its consumer timeout. It reports this with an outcome, and
 * gives this consumer nothing more until the consumer settles the message. rhea does not report that outcome. Source:
 * rhea, `lib/session.js`, `Incoming.on_disposition`; RabbitMQ, "Consumers", "Delivery Acknowledgement Timeout".
 */
function whenTakenBack({ session, unsettled }: Lane, takenBack: () => void): void {
  const { incoming } = session as unknown as { readonly incoming: { on_disposition: (fields: unknown) => void } };
  const heed = incoming.on_disposition.bind(incoming);
  incoming.on_disposition = (fields) => {
    heed(fields);
    if ([...unsettled].some((delivery) => (delivery as { readonly remote_state?: unknown }).remote_state !== undefined))
      takenBack();
  };
}

function lose(state: IntakeState, lane: Lane, cause: unknown): void {
  if (state.lanes.includes(lane)) state.listener.lost(cause ?? new Error("the broker has ended the consumer"));
}

function attached({ receiver }: Lane): Promise<void> {
  return new Promise((resolve) => {
    receiver.once("receiver_open", () => {
      // The broker answers a refused attach as if it accepted it, but without a source, and detaches at once.
      if (receiver.source?.address !== undefined) resolve();
    });
  });
}

/**
 * The broker confirms that a link is detached when the queue has handled all its settlements. A session that ends with
 * an attached link forgets those that it has not passed on. Source: `cancel_checkout/3` in `rabbit_fifo_client.erl`.
 */
function detached({ receiver }: Lane): Promise<void> {
  return new Promise((resolve) => {
    receiver.once("receiver_close", () => resolve());
    receiver.close();
  });
}

/** Counters that rhea's types leave out. While the link drains, the broker takes back all credit. */
interface Counted {
  readonly credit: number;
  drain: boolean;
}

function countedOf({ receiver }: Lane): Counted {
  return receiver as unknown as Counted;
}

/**
 * Gives as much credit as there are free handlers. It gives none while a link drains, because the broker would take the
 * new credit back, too.
 */
function giveCredit({ lanes, concurrency, most, former }: IntakeState): void {
  const newest = lanes.at(-1);
  if (newest === undefined || countedOf(newest).drain) return;
  const given = lanes.reduce((sum, lane) => sum + countedOf(lane).credit, 0);
  const held = lanes.reduce((sum, lane) => sum + lane.unsettled.size, 0);
  const credit = Math.min(most - (held - former.size), concurrency - held) - given;
  if (credit > 0) newest.receiver.add_credit(credit);
}

function drained(lane: Lane): Promise<void> {
  const { credit, drain } = countedOf(lane);
  if (credit === 0 && !drain) return Promise.resolve();
  return new Promise((resolve) => {
    lane.receiver.once("receiver_drained", () => resolve());
    if (!drain) lane.receiver.drain_credit();
  });
}

/**
 * rhea puts the outcomes of neighbouring deliveries of one turn into one frame. It compares them only from the third
 * one on, so a failure beside an acceptance would be accepted and lost. Therefore every other outcome goes out alone.
 * Source: rhea, `lib/session.js`, `write_dispositions`.
 */
function dispose(state: IntakeState, delivery: Delivery, outcome: "accepted" | "other", update: () => void): void {
  const lane = state.lanes.find((each) => each.unsettled.delete(delivery));
  if (lane === undefined) return;
  state.former.delete(delivery);
  if (outcome === "other") writeNow(lane);
  update();
  if (outcome === "other") writeNow(lane);
  retire(state, lane);
  giveCredit(state);
}

/** Ends an older session when none of its deliveries is in hand and no more can come. */
function retire(state: IntakeState, lane: Lane): void {
  const { credit, drain } = countedOf(lane);
  if (lane === state.lanes.at(-1) || lane.unsettled.size > 0 || credit > 0 || drain) return;
  state.lanes = state.lanes.filter((each) => each !== lane);
  void detached(lane).then(() => lane.session.close());
}

/** Writes the pending outcomes, so that none shares a frame with a later one. */
function writeNow({ session }: Lane): void {
  const { incoming } = session as unknown as { readonly incoming: { process: (session: Session) => void } };
  incoming.process(session);
}
