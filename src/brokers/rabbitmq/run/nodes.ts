import { type RabbitmqConnection, urlsOf } from "./connection.ts";

/** One broker, or one node of a cluster. */
export interface RabbitmqNode {
  readonly url: string;
  readonly tls?: RabbitmqConnection["tls"];
  readonly sasl?: RabbitmqConnection["sasl"];
  /** The time limit for letting a client in. */
  readonly withinMs: number;
}

const withinMs = 30_000;
/**
 * A node that is switched off does not answer at all. If there are others, the consumer waits only this long for it.
 */
const amongOthersWithinMs = 10_000;

/** Why a node did not let the client in. */
interface NodeFailure {
  readonly url: string;
  readonly cause: unknown;
}

/** No node lets the client in, not even the only one. Its printed form has no URL, because URLs contain passwords. */
export class NoNodeError extends Error {
  override readonly name = "NoNodeError";
  readonly #failures: readonly NodeFailure[];

  constructor(failures: readonly NodeFailure[]) {
    const hosts = failures.map(({ url, cause }) => `${new URL(url).host} (${shortly(cause)})`).join(", ");
    super(`no node lets the client in: ${hosts}`, { cause: failures.at(-1)?.cause });
    this.#failures = failures;
  }

  failures(): readonly NodeFailure[] {
    return this.#failures;
  }
}

/** A code, or the kind of the error. */
function shortly(cause: unknown): string {
  const { code, condition, name } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  return String(code ?? condition ?? name ?? "no reason is given");
}

const left = new WeakMap<RabbitmqConnection, string>();

/** Marks a node that lets clients in but is useless, so that the next connection tries it last. */
export function leave(connection: RabbitmqConnection, url: string): void {
  left.set(connection, url);
}

/**
 * The order in which to try the nodes. It starts at a random node, so that many consumers spread, and goes on in turn.
 */
function inOrder(connection: RabbitmqConnection): readonly string[] {
  const urls = urlsOf(connection);
  const first = Math.floor(Math.random() * urls.length);
  const avoided = left.get(connection);
  left.delete(connection);
  const turned = [...urls.slice(first), ...urls.slice(0, first)];
  return [...turned.filter((url) => url !== avoided), ...turned.filter((url) => url === avoided)];
}

/**
 * Connects to the first node that lets the client in.
 *
 * @param givenUp ends the connecting, also to the current node
 * @throws NoNodeError
 */
export async function connectToOne<Connected>(
  connection: RabbitmqConnection,
  givenUp: AbortSignal | null,
  connect: (node: RabbitmqNode) => Promise<Connected>,
): Promise<{ readonly connected: Connected; readonly node: RabbitmqNode }> {
  const { tls, sasl } = connection;
  const urls = inOrder(connection);
  const failures: NodeFailure[] = [];
  for (const url of urls) {
    const node = { url, tls, sasl, withinMs: urls.length > 1 ? amongOthersWithinMs : withinMs };
    try {
      return { connected: await connect(node), node };
    } catch (cause) {
      failures.push({ url, cause });
    }
    givenUp?.throwIfAborted();
  }
  throw new NoNodeError(failures);
}
