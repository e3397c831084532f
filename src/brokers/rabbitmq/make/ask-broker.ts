import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";

import { type Diagnostic, diagnosed } from "../../../diagnostics/diagnostic.ts";
import { readTlsFiles } from "../../../tls/read-tls-files.ts";
import { type Fetch, fetchWith } from "../../../tls/secure-fetch.ts";
import { brokers } from "../../index.ts";
import { type RabbitmqTarget, formatTarget } from "../compile/capabilities.ts";

/** The time limit for the answer, because a preview may run where the broker cannot be reached. */
const patienceMs = 5_000;

/** The broker's answer before the first resource. */
export interface Answer {
  /** The reasons to make no resource at all. */
  readonly problems: readonly Diagnostic[];
  /** The names of the queues and exchanges in the virtual host. Null if the broker did not list them. */
  readonly present: ReadonlySet<string> | null;
}

const noAnswer: Answer = { problems: [], present: null };

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
  namespace: pulumi.Input<string>,
): Promise<Answer> {
  const { greeting, refusal } = brokers.rabbitmq.auditor.live;
  if (!rabbitmq.Provider.isInstance(provider)) return noAnswer;
  const { endpoint: at, username: user, password: secret } = provider;
  const [endpoint, username, password, vhost] = await valuesOf([at, user, secret, pulumi.output(namespace)]);
  if (endpoint === undefined || username === undefined || password === undefined) return noAnswer;
  try {
    const request = endpoint.startsWith("https:") ? await securely(provider) : fetch;
    const get = async (path: string): Promise<Response> =>
      request(`${endpoint.replace(/\/$/, "")}/${path}`, {
        headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` },
        redirect: "manual",
        signal: AbortSignal.timeout(patienceMs),
      });
    const answer = await get(greeting.path);
    const text = await answer.text();
    if (answer.status === 401 || answer.status === 403)
      return { problems: [refusal(answer.status, text, null)], present: null };
    if (!answer.ok) return noAnswer;
    const version = (JSON.parse(text) as { rabbitmq_version?: unknown }).rabbitmq_version;
    return { problems: olderThan(target, version), present: await presentIn(get, vhost).catch(() => null) };
  } catch {
    return noAnswer;
  }
}

async function presentIn(
  get: (path: string) => Promise<Response>,
  vhost: string | undefined,
): Promise<ReadonlySet<string> | null> {
  if (vhost === undefined) return null;
  const names = async (kind: string): Promise<readonly string[] | null> => {
    const answer = await get(`api/${kind}/${encodeURIComponent(vhost)}?disable_stats=true&columns=name`);
    return answer.ok ? ((await answer.json()) as readonly { name: string }[]).map(({ name }) => name) : null;
  };
  const [queues, exchanges] = await Promise.all(["queues", "exchanges"].map(names));
  return queues && exchanges ? new Set([...queues, ...exchanges]) : null;
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
