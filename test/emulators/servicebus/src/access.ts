import { createHmac, randomUUID } from "node:crypto";

import type { Connection } from "rhea";

import { Claims } from "./claims.ts";

/** Source: Service Bus documentation, "Service Bus access control with Shared Access Signatures". */
export type Right = "Listen" | "Send" | "Manage";

/** The rights of a token's holder, and the end of their time. */
export interface Grant {
  readonly rights: ReadonlySet<Right>;
  readonly untilMs: number;
}

/** The reason that a token is invalid, in the words of the service. */
export interface NoGrant {
  readonly reason: string;
}

const everything: readonly Right[] = ["Listen", "Send", "Manage"];

/**
 * The access rules: shared access keys with their rights, tokens of identities, and the tokens that clients have shown
 * on each connection.
 */
export class Access {
  readonly #keys = new Map<string, { readonly key: string; readonly rights: ReadonlySet<Right> }>();
  readonly #identities = new Map<string, Grant>();
  readonly #claims = new WeakMap<Connection, Claims>();

  constructor() {
    // The name and the key are those of Microsoft's own emulator.
    this.addKey("RootManageSharedAccessKey", "SAS_KEY_VALUE", everything);
  }

  addKey(name: string, key: string, rights: readonly Right[]): void {
    this.#keys.set(name, { key, rights: new Set(rights) });
  }

  /** A token from an identity provider. Only the service can read it. */
  issueToken(rights: readonly Right[], lifeMs: number): string {
    const token = randomUUID();
    this.#identities.set(token, { rights: new Set(rights), untilMs: Date.now() + lifeMs });
    return token;
  }

  claimsOf(connection: Connection): Claims {
    const claims = this.#claims.get(connection) ?? new Claims(connection);
    this.#claims.set(connection, claims);
    return claims;
  }

  read(token: string): Grant | NoGrant {
    const grant = token.startsWith("SharedAccessSignature ") ? this.#readSignature(token) : this.#identities.get(token);
    if (grant === undefined) return { reason: "InvalidToken: The token is none that was given out." };
    if ("reason" in grant || grant.untilMs > Date.now()) return grant;
    return {
      reason: `ExpiredToken: The token is expired. Expiration time: '${new Date(grant.untilMs).toISOString()}'.`,
    };
  }

  /** Source: the same page, "Generate a Shared Access Signature token". */
  #readSignature(token: string): Grant | NoGrant {
    const fields = new URLSearchParams(token.slice("SharedAccessSignature ".length));
    const [, resource = ""] = /[ &]sr=([^&]*)/.exec(token) ?? [];
    const known = this.#keys.get(fields.get("skn") ?? "");
    const until = fields.get("se") ?? "";
    const signature = createHmac("sha256", known?.key ?? "")
      .update(`${resource}\n${until}`)
      .digest("base64");
    if (known === undefined || signature !== fields.get("sig"))
      return { reason: "InvalidSignature: The token has an invalid signature." };
    return { rights: known.rights, untilMs: Number(until) * 1_000 };
  }
}
