import { type Fetch, fetchWith } from "../../../../tls/secure-fetch.ts";
import type { TlsOptions } from "../../../../tls/tls-options.ts";
import type { RabbitmqCompiled } from "../../compile/compile.ts";
import {
  type FoundBinding,
  type FoundExchange,
  type FoundQueue,
  type FoundResources,
  bindingKey,
} from "../../compile/differences.ts";
import { asInForce } from "../../compile/topology.ts";

type Topology = RabbitmqCompiled["topology"];

/** The time limit for one answer of the management API. */
const patienceMs = 10_000;

/** The address of the management API, and the user for it. */
export interface ManagementLogin {
  readonly origin: string;
  readonly username: string;
  readonly password: string;
  readonly tls?: TlsOptions | undefined;
}

/** Reads the settings of the compiled resources from the management API, with GET requests alone. */
export async function readSettings(
  management: ManagementLogin,
  virtualHost: string,
  topology: Topology,
): Promise<FoundResources | { readonly unreadable: string }> {
  const vhost = encodeURIComponent(virtualHost);
  const get = (path: string): Promise<unknown> => ask(management, path);
  try {
    // Up to 4.2 the answer for a single queue lacks its policy, but the list has it.
    const list = await get(`queues/${vhost}?disable_stats=true&columns=${columns}`);
    // From 4.2 on, the API hides a virtual host from a user without access, as if it did not exist.
    if (!Array.isArray(list)) return { unreadable: "the management API does not show this virtual host" };
    const wanted = new Set(topology.queues.map((queue) => queue.name));
    const queues = new Map<string, FoundQueue>();
    for (const queue of list as readonly Values[]) {
      const name = String(queue["name"]);
      if (!wanted.has(name)) continue;
      queues.set(name, { arguments: valuesIn(queue["arguments"]), policy: await policyOf(queue, vhost, get) });
    }
    const exchanges = new Map<string, FoundExchange>();
    const led = new Set(
      asInForce(topology).policies.flatMap(({ name, applyTo }) => (applyTo === "exchanges" ? [name] : [])),
    );
    for (const { name } of topology.exchanges) {
      const answer = await get(`exchanges/${vhost}/${encodeURIComponent(name)}?disable_stats=true`);
      if (answer === null) continue;
      const exchange = valuesIn(answer);
      exchanges.set(name, {
        kind: String(exchange["type"]),
        arguments: valuesIn(exchange["arguments"]),
        goesAtRestart: exchange["durable"] === false,
        // Of an exchange, every version shows only the policy's name. Its values need one tag more.
        policy: led.has(name) ? await policyOf(exchange, vhost, get).catch(() => null) : {},
      });
    }
    return { queues, exchanges, bindings: await readBindings(topology, vhost, get) };
  } catch (cause) {
    return { unreadable: (cause as Error).message };
  }
}

/**
 * Reads the bindings from the exchanges of the retries, and to the consumer's queues. The bindings from a source, and
 * from the exchanges that lead back and to the dead queues, include those of all other consumers. So do the bindings to
 * a shared dead queue, and only the compiled ones count there.
 */
async function readBindings(
  { exchanges, queues, bindings }: Topology,
  vhost: string,
  get: Get,
): Promise<readonly FoundBinding[]> {
  const own = exchanges.filter(({ role }) => role !== "source" && role !== "again" && role !== "dead");
  const ownQueues = queues.filter(({ consumer, role }) => consumer !== null || role === "dead");
  const shared = new Set(ownQueues.flatMap(({ consumer, name }) => (consumer === null ? [name] : [])));
  const isShared = ({ destination, destinationKind }: FoundBinding): boolean =>
    destinationKind === "queue" && shared.has(destination);
  const compiled = new Set(bindings.map(bindingKey));
  const lists = [
    ...own.map(({ name }) => `exchanges/${vhost}/${encodeURIComponent(name)}/bindings/source`),
    ...ownQueues.map(({ name }) => `queues/${vhost}/${encodeURIComponent(name)}/bindings`),
  ];
  const answers: unknown[] = [];
  for (const list of lists) answers.push(await get(list));
  return answers
    .flatMap((list) => (Array.isArray(list) ? (list as readonly Values[]).map(bindingIn) : []))
    .filter((each) => !isShared(each) || compiled.has(bindingKey(each)));
}

function bindingIn(found: Values): FoundBinding {
  return {
    source: String(found["source"]),
    destination: String(found["destination"]),
    destinationKind: found["destination_type"] === "queue" ? "queue" : "exchange",
    routingKey: String(found["routing_key"]),
    arguments: valuesIn(found["arguments"]),
  };
}

const columns = "name,arguments,policy,effective_policy_definition";

/**
 * The policy in force, with an operator's policy in it. Up to 4.2 an answer without statistics has only the name of the
 * user's policy.
 */
async function policyOf(queue: Values, vhost: string, get: Get): Promise<Values> {
  const { policy, effective_policy_definition: effective } = queue;
  if (effective !== undefined) return valuesIn(effective);
  if (typeof policy !== "string") return {};
  return valuesIn(valuesIn(await get(`policies/${vhost}/${encodeURIComponent(policy)}`))["definition"]);
}

type Values = Readonly<Record<string, unknown>>;
type Get = (path: string) => Promise<unknown>;

/** In the answers of the management API, a resource without arguments has an empty list. */
function valuesIn(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/** @returns null if the resource does not exist or is hidden */
export async function ask({ origin, username, password, tls }: ManagementLogin, path: string): Promise<unknown> {
  const credentials = `${username}:${password}`;
  const signal = AbortSignal.timeout(patienceMs);
  const get: Fetch = tls === undefined || !origin.startsWith("https:") ? fetch : fetchWith(tls);
  const request = (): Promise<Response> =>
    get(`${origin}/api/${path}`, {
      headers: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
      // The password is for this host alone, so no redirect is followed.
      redirect: "manual",
      signal,
    });
  // The broker may end a connection just when it is used again. A GET may be repeated.
  const response = await request()
    .catch(request)
    .catch(() => {
      // The error of fetch may repeat the URL, so it is not passed on.
      throw new Error("the management API does not answer");
    });
  if (response.status === 404) return null;
  if (!response.ok) {
    const tags = "it takes the tag management, and up to 4.2 policymaker";
    throw new Error(`the management API refuses this user (${response.status}): ${tags}`);
  }
  return response.json();
}
