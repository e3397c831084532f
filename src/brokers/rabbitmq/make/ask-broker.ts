import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { type Diagnostic, diagnosed } from "../../../diagnostics/diagnostic.ts";
import { readTlsFiles } from "../../../tls/read-tls-files.ts";
import { type Fetch, fetchWith } from "../../../tls/secure-fetch.ts";
import { brokers } from "../../index.ts";
import { type RabbitmqTarget, formatTarget } from "../compile/capabilities.ts";

/** The time limit for the answer, because a preview may run where the broker cannot be reached. */
const patienceMs = 5_000;

/**
 * Asks the broker for its version before the first resource. Otherwise each resource fails for the same reason: the user
 * is refused, or the broker is older than the target. Without an answer the provider goes on, because it may know a way
 * to the broker, such as a proxy.
 *
 * @param provider the component's provider; only one that the program made itself has a known address
 */
export async function askBroker(
  provider: pulumi.ProviderResource | undefined,
  target: RabbitmqTarget,
): Promise<readonly Diagnostic[]> {
  const { greeting, refusal } = brokers.rabbitmq.auditor.live;
  if (!rabbitmq.Provider.isInstance(provider)) return [];
  const [endpoint, username, password] = await valuesOf([provider.endpoint, provider.username, provider.password]);
  if (endpoint === undefined || username === undefined || password === undefined) return [];
  try {
    const request = endpoint.startsWith("https:") ? await securely(provider) : fetch;
    const answer = await request(`${endpoint.replace(/\/$/, "")}/${greeting.path}`, {
      headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` },
      redirect: "manual",
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await answer.text();
    if (answer.status === 401 || answer.status === 403) return [refusal(answer.status, text, null)];
    return answer.ok ? olderThan(target, (JSON.parse(text) as { rabbitmq_version?: unknown }).rabbitmq_version) : [];
  } catch {
    return [];
  }
}

/** With the certificates of the provider. */
async function securely({ cacertFile, clientcertFile, clientkeyFile }: rabbitmq.Provider): Promise<Fetch> {
  const [ca, cert, key] = await valuesOf([cacertFile, clientcertFile, clientkeyFile]);
  const read = readTlsFiles({ ca, cert, key });
  return fetchWith("tls" in read ? read.tls : {});
}

/** Only an internal property tells if a preview knows a value. `apply` would wait for ever for an unknown one. */
async function valuesOf<Value>(outputs: readonly pulumi.Output<Value>[]): Promise<readonly (Value | undefined)[]> {
  return Promise.all(
    (outputs as readonly (pulumi.Output<Value> & { readonly isKnown: Promise<boolean> })[]).map(async (output) =>
      // The provider of a program in another language has no outputs here.
      (await output?.isKnown) ? new Promise<Value>((resolve) => void output.apply(resolve as () => void)) : undefined,
    ),
  );
}

function olderThan(target: RabbitmqTarget, version: unknown): readonly Diagnostic[] {
  const [whole, ...found] = /^(\d+)\.(\d+)\.(\d+)/.exec(String(version)) ?? [];
  if (whole === undefined) return [];
  const wanted = `${target.version}.${target.patch ?? 0}`.split(".");
  const first = wanted.findIndex((part, index) => part !== found[index]);
  if (first === -1 || Number(found[first]) > Number(wanted[first])) return [];
  return diagnosed("RD806", {
    path: "target",
    message: `the target is ${formatTarget(target)}, and the broker is RabbitMQ ${whole}`,
    value: formatTarget(target),
    notes: ["an older broker refuses arguments that it does not know, or ignores them"],
    help: `deploy for rabbitmq@${whole.replace(/\.\d+$/, "")}, or upgrade the broker first`,
  });
}
