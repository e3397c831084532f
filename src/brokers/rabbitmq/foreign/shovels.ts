import type { Entry } from "../../../foreign/entries.ts";

/**
 * A shovel: the broker itself takes messages from one place, and publishes them to another. A queue of another broker or
 * virtual host is left out. Nothing here keeps the URIs, because they have passwords.
 */
export interface Shovel {
  readonly name: string;
  /** Null for an exchange, or for a queue elsewhere. */
  readonly fromQueue: string | null;
  readonly intoQueue: string | null;
}

/** Reads the parameter of a shovel. Source: `rabbit_shovel_parameters`, `rabbit_amqp_session:parse_target_v2_string/1`. */
export function shovelOf(name: string, value: Entry, virtualHost: string): Shovel {
  const [from, into] = (["src", "dest"] as const).map((side) => sideOf(value, side, virtualHost));
  // Between a host that is named and this broker, only the side without a name is certain.
  const isHere = (one: Side | undefined, other: Side | undefined): boolean =>
    one?.host === "here" || (one?.host === "named" && other?.host !== "here");
  const [fromQueue, intoQueue] = [
    isHere(from, into) ? (from?.queue ?? null) : null,
    isHere(into, from) ? (into?.queue ?? null) : null,
  ];
  // A queue of one name on both sides is on two brokers, and messages leave it for its consumer.
  return { name, fromQueue: fromQueue === intoQueue ? null : fromQueue, intoQueue };
}

interface Side {
  readonly host: "here" | "named" | "elsewhere";
  readonly queue: string | null;
}

function sideOf(value: Entry, side: "src" | "dest", virtualHost: string): Side {
  const given = value[`${side}-uri`];
  const [uri] = Array.isArray(given) ? (given as readonly unknown[]) : [given];
  // A URI for AMQP 1.0 names no virtual host.
  const wanted = typeof value[`${side}-address`] === "string" ? null : virtualHost;
  return { host: typeof uri === "string" ? hostOf(uri, wanted) : "here", queue: queueAt(value, side) };
}

/**
 * A URI without a host is this broker, and one without a path the virtual host `/`. The class `URL` refuses a user
 * without a host. Source: `amqp_uri:parse/1`.
 */
function hostOf(uri: string, virtualHost: string | null): Side["host"] {
  const [, host = "", path = ""] =
    /^amqps?:\/\/(?:[^@/?]*@)?(\[[^\]]*\]|[^:/?]*)(?::\d+)?(?:\/([^?]*))?/i.exec(uri) ?? [];
  if (virtualHost !== null && (path === "" ? "/" : decoded(path)) !== virtualHost) return "elsewhere";
  return /^(|localhost|127\.0\.0\.1|\[::1\])$/i.test(host) ? "here" : "named";
}

function queueAt(value: Entry, side: "src" | "dest"): string | null {
  const { [`${side}-queue`]: queue, [`${side}-address`]: address } = value;
  if (typeof queue === "string") return queue;
  if (typeof address !== "string") return null;
  const [, named = address] = /^\/(?:amq\/)?queues?\/(.+)$/.exec(address) ?? [];
  return named.startsWith("/") ? null : decoded(named);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
