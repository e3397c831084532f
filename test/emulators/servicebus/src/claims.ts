import type { Connection, Receiver, Sender } from "rhea";

import type { Grant, Right } from "./access.ts";
import { refuse } from "./link.ts";
import type { Refusal } from "./settlement.ts";

interface Guarded {
  readonly link: Sender | Receiver;
  readonly path: string;
  readonly right: Right;
}

/** The rights that the clients of one connection have shown, and the links that depend on them. */
export class Claims {
  readonly #grants = new Map<string, Grant>();
  readonly #links = new Set<Guarded>();
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: Connection) {
    connection.on("disconnected", () => clearTimeout(this.#timer));
  }

  /** @param audience the address of an entity, such as `sb://host/queue`; a newer token replaces the one before */
  put(audience: string, grant: Grant): void {
    this.#grants.set(pathOf(new URL(audience).pathname), grant);
    this.#watch();
  }

  /**
   * A token for a path also covers the paths below it. The client for Java shows one for the entity, and opens a link
   * to its `$management`. Source: "Service Bus access control with shared access signatures": the signed address is a
   * prefix of the accessed one.
   *
   * @returns the refusal; null if the client has one of the rights
   */
  refusalOf(path: string, rights: readonly Right[]): Refusal | null {
    const parts = pathOf(path).split("/");
    const grants = parts.map((_, index) => this.#grants.get(parts.slice(0, index + 1).join("/")));
    const nowMs = Date.now();
    if (
      grants.some(
        (grant) => grant !== undefined && grant.untilMs > nowMs && rights.some((right) => grant.rights.has(right)),
      )
    )
      return null;
    return { condition: "amqp:unauthorized-access", description: missing(path, rights) };
  }

  /**
   * Ends a link when its token has expired. Sources: "AMQP 1.0 in Azure Service Bus and Event Hubs protocol guide",
   * claims-based authorization: the links to the entity are dropped. The words of the service are those in issue 23487
   * of azure-sdk-for-python.
   */
  guard(link: Sender | Receiver, path: string, right: Right): void {
    const guarded = { link, path, right };
    this.#links.add(guarded);
    for (const event of ["sender_close", "receiver_close"]) link.on(event, () => this.#links.delete(guarded));
  }

  #watch(): void {
    clearTimeout(this.#timer);
    const nextMs = Math.min(...[...this.#grants.values()].map(({ untilMs }) => untilMs));
    // A timer of Node cannot wait longer.
    this.#timer = setTimeout(() => this.#passTime(), Math.min(Math.max(0, nextMs - Date.now()), 2 ** 31 - 1));
    this.#timer.unref();
  }

  #passTime(): void {
    for (const [path, { untilMs }] of this.#grants) if (untilMs <= Date.now()) this.#grants.delete(path);
    for (const guarded of this.#links) {
      const { link, path, right } = guarded;
      if (this.refusalOf(path, [right]) === null) continue;
      this.#links.delete(guarded);
      const details = `Code: RenewToken. Details: ${missing(path, [right])}`;
      const description = `The link '${link.name}' is force detached. ${details}`;
      if (link.is_open()) refuse(link, { condition: "amqp:link:detach-forced", description });
    }
    if (this.#grants.size > 0) this.#watch();
  }
}

function pathOf(text: string): string {
  return decodeURIComponent(text)
    .replace(/^\/+|\/+$/g, "")
    .toLowerCase();
}

function missing(path: string, rights: readonly Right[]): string {
  return `Unauthorized access. '${rights.join(", ")}' claim(s) are required to perform this operation. Resource: '${path}'.`;
}
