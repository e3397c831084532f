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

/** What a broker allows that does not say it. Source: AMQP 1.0, 2.7.1. */
const specifiedChannelMax = 65_535;

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
  /** How many sessions there are, with those that the broker has not ended yet. */
  sessions: number;
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
  const state: IntakeState = { connection, queue, concurrency, listener, lanes: [], sessions: 0, isTaking: false };
  const lane = addLane(state);
  await attached(lane);
  return {
    resume: () => {
      state.isTaking = true;
      giveCredit(state);
    },
    pause: async () => {
      state.isTaking = false;
      await Promise.all(state.lanes.map(drained));
    },
    settle: (delivery, outcome, update) => settle(state, delivery, outcome, update),
  };
}

/** How many sessions a connection may have for deliveries: one is left for a new token. RabbitMQ allows 64 in all. */
function mostSessionsOn({ channel_max: channelMax = specifiedChannelMax }: Connection): number {
  return Math.max(1, channelMax);
}

/** How many handlers a connection may give messages to, so that there is always a session more than those that long ones keep: 62 on RabbitMQ. */
export function mostHandlersOn(connection: Connection): number {
  return Math.max(1, mostSessionsOn(connection) - 1);
}

/**
 * The next deliveries come through another session, if the broker allows one more: a session beyond the most would cost the connection. With fewer
 * handlers than sessions that never holds anything up, since each older session has one that runs.
 */
function moveOn(state: IntakeState): void {
  const newest = state.lanes.at(-1);
  if (newest === undefined || newest.received < deliveriesOfASession) return;
  if (state.sessions < mostSessionsOn(state.connection)) addLane(state);
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
    // We have ended it. rhea gives its number to another one no earlier than at the end of the turn.
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
 * RabbitMQ takes a message back that is held for longer than its consumer timeout: it says so by an outcome of its own, and gives nothing more to this
 * consumer before it has settled that message. rhea keeps that to itself. Source: rhea, `lib/session.js`, `Incoming.on_disposition`; RabbitMQ,
 * "Consumers", "Delivery Acknowledgement Timeout".
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
      // An attach that is refused is answered as if it were taken, without a source, and detached at once.
      if (receiver.source?.address !== undefined) resolve();
    });
  });
}

/** What rhea counts, and its types leave out. While it drains, the broker is to take all credit back. */
interface Counted {
  readonly credit: number;
  drain: boolean;
}

function countedOf({ receiver }: Lane): Counted {
  return receiver as unknown as Counted;
}

/** As much credit as handlers are free. What is given while the broker takes credit back would be taken back as well. */
function giveCredit({ lanes, concurrency, isTaking }: IntakeState): void {
  const newest = lanes.at(-1);
  if (!isTaking || newest === undefined || countedOf(newest).drain) return;
  const taken = lanes.reduce((sum, lane) => sum + countedOf(lane).credit + lane.unsettled.size, 0);
  newest.receiver.add_credit(concurrency - taken);
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
  retire(state, lane);
  giveCredit(state);
}

/** Ends an older session when nothing of it is in hand, and nothing more can come through it. */
function retire(state: IntakeState, lane: Lane): void {
  const { credit, drain } = countedOf(lane);
  if (lane === state.lanes.at(-1) || lane.unsettled.size > 0 || credit > 0 || drain) return;
  state.lanes = state.lanes.filter((each) => each !== lane);
  lane.session.close();
}

/** Writes the outcomes that are due, so that none of them shares a frame with a later one. */
function writeNow({ session }: Lane): void {
  const { incoming } = session as unknown as { readonly incoming: { process: (session: Session) => void } };
  incoming.process(session);
}
