import { createSign, generateKeyPairSync } from "node:crypto";

import { startBroker, type StartedBroker } from "../broker-containers.ts";
import type { BrokerVersion } from "../broker-images.ts";

/** A broker that accepts users with tokens of OAuth 2.0, and the signer of these tokens. */
export interface TokenBroker extends StartedBroker {
  /** A token that allows everything, for this time. It has whole seconds, so it may expire up to one second sooner. */
  readonly issue: (lifetimeMs: number) => { readonly password: string; readonly expiration: Date };
}

/** Starts a broker with a key of its own. */
export async function startTokenBroker(version: BrokerVersion): Promise<TokenBroker> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const started = await startBroker(version, undefined, {
    plugins: ["rabbitmq_auth_backend_oauth2"],
    configuration: `
auth_backends.1 = rabbit_auth_backend_oauth2
auth_backends.2 = rabbit_auth_backend_internal
auth_oauth2.resource_server_id = rabbitmq
auth_oauth2.default_key = test
auth_oauth2.signing_keys.test = /etc/rabbitmq/signing-key.pem
auth_oauth2.algorithms.1 = RS256
`,
    files: { "/etc/rabbitmq/signing-key.pem": publicKey.export({ type: "spki", format: "pem" }).toString() },
  });
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  return {
    ...started,
    issue: (lifetimeMs) => {
      const expiresAt = Math.floor((Date.now() + lifetimeMs) / 1_000);
      const scope = ["configure", "write", "read"].map((access) => `rabbitmq.${access}:*/*`);
      const claims = {
        sub: "billing-service",
        aud: "rabbitmq",
        scope: [...scope, "rabbitmq.tag:policymaker"],
        exp: expiresAt,
      };
      const signed = `${encoded({ alg: "RS256", typ: "JWT", kid: "test" })}.${encoded(claims)}`;
      const signature = createSign("RSA-SHA256").update(signed).sign(privateKey).toString("base64url");
      return { password: `${signed}.${signature}`, expiration: new Date(expiresAt * 1_000) };
    },
  };
}
