import rhea from "rhea";
import type { Connection } from "rhea";

import { askManagementNode } from "./management-node.ts";

/**
 * Gives the broker a new token for a connection of AMQP 1.0: `PUT /auth/tokens`.
 *
 * @throws if the broker refuses it
 */
export async function putToken(connection: Connection, token: string): Promise<void> {
  const body = rhea.types.wrap_binary(Buffer.from(token));
  const { status } = await askManagementNode(connection, { method: "PUT", path: "/auth/tokens", body });
  if (status !== "204") throw new Error(`the broker refuses a new token (${status})`);
}
