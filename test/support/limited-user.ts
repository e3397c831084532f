import { randomUUID } from "node:crypto";

import { createManagement } from "./management.ts";
import type { Broker } from "./live.ts";

/** A user without access to the virtual host. */
interface Tagged {
  readonly tag: string | null;
}

/** The rights of a user in one virtual host. */
export interface Rights extends Tagged {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

/** A user with only these rights in one virtual host. */
export interface LimitedUser extends AsyncDisposable {
  readonly name: string;
  readonly amqpUrl: string;
  /** The broker as this user sees it. */
  readonly broker: Broker;
  readonly remove: () => Promise<void>;
}

export async function createLimitedUser(broker: Broker, vhost: string, rights: Rights | Tagged): Promise<LimitedUser> {
  const management = createManagement(broker.managementUrl);
  const name = `user-${randomUUID()}`;
  await management.put(`users/${name}`, { password: "secret", tags: rights.tag ?? "" });
  if ("configure" in rights) {
    const { configure, write, read } = rights;
    await management.put(`permissions/${encodeURIComponent(vhost)}/${name}`, { configure, write, read });
  }
  const withUser = (url: string): string => url.replace(/\/\/[^@]*@/, `//${name}:secret@`);
  const amqpUrl = withUser(broker.amqpUrl);
  const remove = async (): Promise<void> => {
    await management.delete(`users/${name}`);
  };
  return {
    name,
    amqpUrl: `${amqpUrl.replace(/\/[^/@]*$/, "")}/${encodeURIComponent(vhost)}`,
    broker: { ...broker, amqpUrl, managementUrl: withUser(broker.managementUrl) },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}
