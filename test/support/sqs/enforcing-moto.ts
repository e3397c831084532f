import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

import { region } from "./clients.ts";
import { startMoto, type StartedEmulator } from "./emulators.ts";

/** A moto of one's own that looks at the policy of whoever calls. It knows actions, and takes every resource for the one that is meant. */
export interface EnforcingMoto {
  /** To deploy on, before anything is enforced. */
  readonly emulator: StartedEmulator;
  /** To consume from. */
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** From now on the owner of the credentials may do this, and nobody may do anything else. */
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
      // To change a policy would take a right as well.
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

/** After how many calls rights are looked at. Source: moto's documentation, "IAM-like Access Control". */
async function enforceAfter(endpoint: string, calls: string): Promise<void> {
  await fetch(`${endpoint}/moto-api/reset-auth`, { method: "POST", body: calls });
}

/** Nothing is enforced yet, so the signature is none; moto reads the service out of it all the same. */
async function askIam(endpoint: string, parameters: Readonly<Record<string, string>>): Promise<string> {
  const authorization = `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/iam/aws4_request, SignedHeaders=host, Signature=0`;
  const body = new URLSearchParams({ Version: "2010-05-08", ...parameters });
  const response = await fetch(endpoint, { method: "POST", headers: { authorization }, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`moto answers ${parameters["Action"]} with ${response.status}: ${text}`);
  return text;
}

/** Its refusals are XML in moto 5.2.5, where SQS and the SDK speak JSON. The host stays as it was signed. */
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
  response.writeHead(answer.statusCode ?? 502, { "content-type": "application/x-amz-json-1.0" });
  response.end(code === undefined ? text : JSON.stringify({ __type: code, message }));
}
