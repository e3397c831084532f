import { createHmac, randomUUID } from "node:crypto";

import type { Connection } from "rhea";

import { Claims } from "./claims.ts";

/** Source: Service Bus documentation, "Service Bus access control with Shared Access Signatures". */
export type Right = "Listen" | "Send" | "Manage";

/** What a token lets its holder do, and until when. */
export interface Grant {
  readonly rights: ReadonlySet<Right>;
  readonly untilMs: number;
}

/** Why a token is none, in the words of the service. */
export interface NoGrant {
  readonly reason: string;
}

const everything: readonly Right[] = ["Listen", "Send", "Manage"];

/** Who may do what: shared access keys with their rights, tokens of identities, and what the clients of each connection have shown. */
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

  /** A token as an identity provider gives it out: nobody but the service can read it. */
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
