import type { Entry } from "../../../foreign/entries.ts";

/**
 * A shovel: the broker itself takes messages from one place, and publishes them to another. Its URIs may name another
 * broker. Nothing here keeps them, because they have passwords.
 */
export interface Shovel {
  readonly name: string;
  /** Null for an exchange, or for an address that names no queue. */
  readonly fromQueue: string | null;
  readonly intoQueue: string | null;
}

/** Reads the parameter of a shovel. Source: `rabbit_shovel_parameters`, `rabbit_amqp_session:parse_target_v2_string/1`. */
export function shovelOf(name: string, value: Entry): Shovel {
  return { name, fromQueue: queueAt(value, "src"), intoQueue: queueAt(value, "dest") };
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
