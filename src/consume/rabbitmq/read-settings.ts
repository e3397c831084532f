import type { CompiledSystem } from "../../brokers/index.ts";
import type { ExchangeSettings, FoundSettings, QueueSettings } from "./compare.ts";

/** How long the management API may take for one answer. */
const patienceMs = 10_000;

/** Reads the settings of what was compiled from the management API, with GET requests alone. What it does not show has no entry. */
export async function readSettings(
  managementUrl: string,
  amqpUrl: string,
  topology: CompiledSystem<"rabbitmq">["topology"],
): Promise<FoundSettings> {
  const vhost = encodeURIComponent(decodeURIComponent(new URL(amqpUrl).pathname.slice(1)) || "/");
  const get = (path: string): Promise<unknown> => ask(managementUrl, path);
  const queues = new Map<string, QueueSettings>();
  const exchanges = new Map<string, ExchangeSettings>();
  const wanted = new Set(topology.queues.map((queue) => queue.name));
  try {
    // A queue that is asked for by itself says nothing of its policy up to 4.2; in the list it does.
    const list = await get(`queues/${vhost}?disable_stats=true&columns=${columns}`);
    for (const queue of Array.isArray(list) ? (list as readonly Values[]) : []) {
      const name = String(queue["name"]);
      if (!wanted.has(name)) continue;
      queues.set(name, { arguments: valuesIn(queue["arguments"]), policy: await policyOf(queue, vhost, get) });
    }
    for (const { name } of topology.exchanges) {
      const answer = await get(`exchanges/${vhost}/${encodeURIComponent(name)}?disable_stats=true`);
      if (answer === null) continue;
      const exchange = valuesIn(answer);
      exchanges.set(name, { kind: String(exchange["type"]), arguments: valuesIn(exchange["arguments"]) });
    }
    return { queues, exchanges, unreadable: null };
  } catch (cause) {
    return { queues, exchanges, unreadable: (cause as Error).message };
  }
}

const columns = "name,arguments,policy,effective_policy_definition";

/** What is in force, with an operator's policy in it; up to 4.2 only the name of the user's policy is told without statistics. */
async function policyOf(queue: Values, vhost: string, get: (path: string) => Promise<unknown>): Promise<Values> {
  const { policy, effective_policy_definition: effective } = queue;
  if (effective !== undefined) return valuesIn(effective);
  if (typeof policy !== "string") return {};
  return valuesIn(valuesIn(await get(`policies/${vhost}/${encodeURIComponent(policy)}`))["definition"]);
}

type Values = Readonly<Record<string, unknown>>;

/** No arguments at all are a list in the answers of the management API. */
function valuesIn(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/** @returns null for what is not there, or not shown */
async function ask(managementUrl: string, path: string): Promise<unknown> {
  const { origin, username, password } = new URL(managementUrl);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const response = await fetch(`${origin}/api/${path}`, {
    headers: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
    // The password is for this host alone.
    redirect: "manual",
    signal: AbortSignal.timeout(patienceMs),
  }).catch(() => {
    // What fetch says may repeat the URL.
    throw new Error("the management API does not answer");
  });
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`the management API refuses this user (${response.status})`);
  return response.json();
}
