import type { CompiledSystem } from "../../brokers/index.ts";
import type { Binding } from "./compare-bindings.ts";
import type { ExchangeSettings, FoundSettings, QueueSettings } from "./compare.ts";

type Topology = CompiledSystem<"rabbitmq">["topology"];

/** How long the management API may take for one answer. */
const patienceMs = 10_000;

/** Where the management API is, and as whom it is asked. */
export interface ManagementLogin {
  readonly origin: string;
  readonly username: string;
  readonly password: string;
}

/** Reads what was compiled from the management API, with GET requests alone. */
export async function readSettings(
  management: ManagementLogin,
  virtualHost: string,
  topology: Topology,
): Promise<FoundSettings | { readonly unreadable: string }> {
  const vhost = encodeURIComponent(virtualHost);
  const get = (path: string): Promise<unknown> => ask(management, path);
  try {
    // A queue that is asked for by itself says nothing of its policy up to 4.2; in the list it does.
    const list = await get(`queues/${vhost}?disable_stats=true&columns=${columns}`);
    // From 4.2 on a virtual host that the user may not see is answered as if it were not there.
    if (!Array.isArray(list)) return { unreadable: "the management API does not show this virtual host" };
    const wanted = new Set(topology.queues.map((queue) => queue.name));
    const queues = new Map<string, QueueSettings>();
    for (const queue of list as readonly Values[]) {
      const name = String(queue["name"]);
      if (!wanted.has(name)) continue;
      queues.set(name, { arguments: valuesIn(queue["arguments"]), policy: await policyOf(queue, vhost, get) });
    }
    const exchanges = new Map<string, ExchangeSettings>();
    for (const { name } of topology.exchanges) {
      const answer = await get(`exchanges/${vhost}/${encodeURIComponent(name)}?disable_stats=true`);
      if (answer === null) continue;
      const exchange = valuesIn(answer);
      exchanges.set(name, { kind: String(exchange["type"]), arguments: valuesIn(exchange["arguments"]) });
    }
    return { queues, exchanges, bindings: await readBindings(topology, vhost, get) };
  } catch (cause) {
    return { unreadable: (cause as Error).message };
  }
}

/**
 * What leads out of the consumer's own exchanges, and into its work queue. All that leads out of a source would be that of every other consumer, too,
 * of which there may be thousands.
 */
async function readBindings({ exchanges, queues }: Topology, vhost: string, get: Get): Promise<readonly Binding[]> {
  const own = exchanges.filter(
    ({ consumer, role }) => consumer !== null || role === "wait" || role === "undeliverable",
  );
  const work = queues.filter(({ role }) => role === "work");
  const lists = [
    ...own.map(({ name }) => `exchanges/${vhost}/${encodeURIComponent(name)}/bindings/source`),
    ...work.map(({ name }) => `queues/${vhost}/${encodeURIComponent(name)}/bindings`),
  ];
  const answers: unknown[] = [];
  for (const list of lists) answers.push(await get(list));
  return answers.flatMap((list) => (Array.isArray(list) ? (list as readonly Values[]).map(bindingIn) : []));
}

function bindingIn(found: Values): Binding {
  return {
    source: String(found["source"]),
    destination: String(found["destination"]),
    destinationKind: found["destination_type"] === "queue" ? "queue" : "exchange",
    routingKey: String(found["routing_key"]),
    arguments: valuesIn(found["arguments"]) as Binding["arguments"],
  };
}

const columns = "name,arguments,policy,effective_policy_definition";

/** What is in force, with an operator's policy in it; up to 4.2 only the name of the user's policy is told without statistics. */
async function policyOf(queue: Values, vhost: string, get: Get): Promise<Values> {
  const { policy, effective_policy_definition: effective } = queue;
  if (effective !== undefined) return valuesIn(effective);
  if (typeof policy !== "string") return {};
  return valuesIn(valuesIn(await get(`policies/${vhost}/${encodeURIComponent(policy)}`))["definition"]);
}

type Values = Readonly<Record<string, unknown>>;
type Get = (path: string) => Promise<unknown>;

/** No arguments at all are a list in the answers of the management API. */
function valuesIn(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/** @returns null for what is not there, or not shown */
async function ask({ origin, username, password }: ManagementLogin, path: string): Promise<unknown> {
  const credentials = `${username}:${password}`;
  const signal = AbortSignal.timeout(patienceMs);
  const request = (): Promise<Response> =>
    fetch(`${origin}/api/${path}`, {
      headers: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
      // The password is for this host alone.
      redirect: "manual",
      signal,
    });
  // The broker may end a connection at the moment at which it is used again. A GET may be said twice.
  const response = await request()
    .catch(request)
    .catch(() => {
      // What fetch says may repeat the URL.
      throw new Error("the management API does not answer");
    });
  if (response.status === 404) return null;
  if (!response.ok) {
    const tags = "it takes the tag management, and up to 4.2 policymaker";
    throw new Error(`the management API refuses this user (${response.status}): ${tags}`);
  }
  return response.json();
}
