import type { RabbitmqConnection } from "./connection.ts";
import { urlsOf } from "./connection.ts";

/** One broker, or one node of a cluster. */
export interface RabbitmqNode {
  readonly url: string;
  readonly tls?: RabbitmqConnection["tls"];
  /** How long it may take to let a client in. */
  readonly withinMs: number;
}

const withinMs = 30_000;
/** Where there are others, one that is switched off, and so says nothing at all, is not waited for as long. */
const amongOthersWithinMs = 10_000;

/** Why a node did not let the client in. */
interface NodeFailure {
  readonly url: string;
  readonly cause: unknown;
}

/** No node lets the client in, be it the only one. What is printed of it has no URL, since there are passwords in them. */
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

/** A code, or what kind of error it is. */
function shortly(cause: unknown): string {
  const { code, condition, name } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  return String(code ?? condition ?? name ?? "no reason is given");
}

/**
 * Connects with the first node that lets the client in. The one that is tried first is random, so that many consumers spread over the nodes; then the
 * others in turn.
 *
 * @param givenUp ends that, with the node that is being tried
 * @throws NoNodeError
 */
export async function connectToOne<Connected>(
  connection: RabbitmqConnection,
  givenUp: AbortSignal | null,
  connect: (node: RabbitmqNode) => Promise<Connected>,
): Promise<{ readonly connected: Connected; readonly url: string }> {
  const { tls } = connection;
  const urls = urlsOf(connection);
  const first = Math.floor(Math.random() * urls.length);
  const failures: NodeFailure[] = [];
  for (const url of [...urls.slice(first), ...urls.slice(0, first)]) {
    try {
      const node = { url, withinMs: urls.length > 1 ? amongOthersWithinMs : withinMs };
      return { connected: await connect(tls === undefined ? node : { ...node, tls }), url };
    } catch (cause) {
      failures.push({ url, cause });
    }
    givenUp?.throwIfAborted();
  }
  throw new NoNodeError(failures);
}
