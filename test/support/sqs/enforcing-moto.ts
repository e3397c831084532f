import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

import { type Credentials, region } from "./clients.ts";
import { startMoto, type StartedEmulator } from "./emulators.ts";

/** A moto of a test's own that checks the policy of the caller. It knows actions, but accepts every resource. */
export interface EnforcingMoto {
  /** For the deployment, before it enforces any policy. */
  readonly emulator: StartedEmulator;
  /** To consume from. */
  readonly endpoint: string;
  readonly credentials: Credentials;
  /** From now on the owner of the credentials may do only this. */
  readonly allow: (actions: readonly string[]) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startEnforcingMoto(): Promise<EnforcingMoto> {
  const emulator = await startMoto();
  const { endpoint } = emulator;
  await askIam(endpoint, { Action: "CreateUser", UserName: "billing" });
  const key = await askIam(endpoint, { Action: "CreateAccessKey", UserName: "billing" });
  const textOf = (element: string): string => new RegExp(`<${element}>([^<]*)<`).exec(key)?.[1] ?? "";
  const front = createServer((incoming, response) => {
    passOn(endpoint, incoming, response).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  return {
    emulator,
    endpoint: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    credentials: { accessKeyId: textOf("AccessKeyId"), secretAccessKey: textOf("SecretAccessKey") },
    allow: async (actions) => {
      // Changing a policy would need a right as well.
      await enforceAfter(endpoint, "inf");
      const document = { Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: actions, Resource: "*" }] };
      const policy = { PolicyName: "consume", PolicyDocument: JSON.stringify(document) };
      await askIam(endpoint, { Action: "PutUserPolicy", UserName: "billing", ...policy });
      await enforceAfter(endpoint, "0");
    },
    stop: async () => {
      front.closeAllConnections();
      front.close();
      await emulator.stop();
    },
  };
}

/** Sets the number of calls before moto checks rights. Source: moto's documentation, "IAM-like Access Control". */
async function enforceAfter(endpoint: string, calls: string): Promise<void> {
  await fetch(`${endpoint}/moto-api/reset-auth`, { method: "POST", body: calls });
}

/** moto enforces no policy yet, so the signature is false. But moto reads the service out of it. */
async function askIam(endpoint: string, parameters: Readonly<Record<string, string>>): Promise<string> {
  const authorization = `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/iam/aws4_request, SignedHeaders=host, Signature=0`;
  const body = new URLSearchParams({ Version: "2010-05-08", ...parameters });
  const response = await fetch(endpoint, { method: "POST", headers: { authorization }, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`moto answers ${parameters["Action"]} with ${response.status}: ${text}`);
  return text;
}

/**
 * The refusals of moto 5.2.5 are XML, but SQS and Lambda speak JSON with the SDK; SNS does not. The host stays as it
 * was signed.
 */
async function passOn(endpoint: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(incoming);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const { method = "POST", headers } = incoming;
    const outgoing = request(new URL(incoming.url ?? "/", endpoint), { method, headers }, resolve);
    outgoing.on("error", reject);
    outgoing.end(body);
  });
  const text = (await buffer(answer)).toString();
  const [, code] = /<Code>([^<]*)</.exec(text) ?? [];
  const [, message] = /<Message>([^<]*)</.exec(text) ?? [];
  const isXml = incoming.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") === true;
  response.writeHead(answer.statusCode ?? 502, { "content-type": isXml ? "text/xml" : "application/x-amz-json-1.0" });
  response.end(isXml || code === undefined ? text : JSON.stringify({ __type: code, message }));
}
