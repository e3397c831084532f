/** A definition, argument table or answer of the management API. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The management API's data on a queue. The counts are missing until the broker has its first statistics. */
export interface QueueInfo {
  readonly name: string;
  readonly vhost: string;
  readonly type: string;
  readonly durable: boolean;
  readonly auto_delete: boolean;
  readonly exclusive: boolean;
  readonly arguments: JsonObject;
  readonly state?: string;
  /** The nodes that run a quorum queue. */
  readonly online?: readonly string[];
  readonly policy?: string | null;
  readonly effective_policy_definition?: JsonObject | null;
  readonly consumers?: number;
  readonly messages?: number;
  readonly messages_ready?: number;
  readonly messages_unacknowledged?: number;
  /** Dead, and not passed on yet: neither ready nor unacknowledged. */
  readonly messages_dlx?: number;
}

export interface QueueMessage {
  readonly payload: string;
  readonly payload_encoding: "string" | "base64";
  readonly exchange: string;
  readonly routing_key: string;
  readonly redelivered: boolean;
  readonly message_count: number;
  readonly properties: JsonObject & { readonly headers?: JsonObject };
}

export interface PolicyInfo {
  readonly name: string;
  readonly vhost: string;
  readonly pattern: string;
  readonly "apply-to": string;
  readonly priority: number;
  readonly definition: JsonObject;
}

export interface BindingRequest {
  readonly source: string;
  readonly destination: string;
  readonly destinationType: "queue" | "exchange";
  readonly routingKey: string;
  readonly arguments?: JsonObject;
}

/** The broker's action on the messages after it has shown them. */
export type AckMode = "ack_requeue_true" | "ack_requeue_false" | "reject_requeue_true" | "reject_requeue_false";

/** A request the broker refused, with its own words in `reason`. */
export class ManagementError extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(request: string, status: number, reason: string) {
    super(`${request} was answered with ${status}: ${reason}`);
    this.name = "ManagementError";
    this.status = status;
    this.reason = reason;
  }
}

/**
 * The RabbitMQ management API. Every call throws a `ManagementError` when the broker answers with anything but success.
 */
export interface Management {
  /** Requests to a path below `/api/`, for endpoints without a function of their own. Encode the path's parts. */
  get<Answer>(path: string): Promise<Answer>;
  put(path: string, body: JsonObject): Promise<void>;
  post<Answer>(path: string, body: JsonObject): Promise<Answer>;
  delete(path: string): Promise<void>;

  overview(): Promise<JsonObject & { readonly rabbitmq_version: string }>;
  putVhost(vhost: string): Promise<void>;
  deleteVhost(vhost: string): Promise<void>;
  putPermissions(vhost: string, user: string): Promise<void>;
  /** Without a vhost, the definitions are those of a whole broker and name their vhosts themselves. */
  importDefinitions(definitions: JsonObject, vhost?: string): Promise<void>;
  /** The lists are in one order. The broker gives them in any. */
  exportDefinitions(vhost: string): Promise<JsonObject>;
  declareExchange(vhost: string, name: string, exchange: JsonObject): Promise<void>;
  declareQueue(vhost: string, name: string, queue: JsonObject): Promise<void>;
  bind(vhost: string, binding: BindingRequest): Promise<void>;
  putPolicy(vhost: string, name: string, policy: JsonObject): Promise<void>;
  policies(vhost: string): Promise<readonly PolicyInfo[]>;
  queue(vhost: string, name: string): Promise<QueueInfo>;
  /** The queues of one vhost, or without a vhost those of the whole broker. */
  queues(vhost?: string): Promise<readonly QueueInfo[]>;
  getMessages(vhost: string, queue: string, count: number, ackMode: AckMode): Promise<readonly QueueMessage[]>;
}

/**
 * A client for the management API at a URL like `http://user:password@host:15672`; without credentials, those of guest.
 */
export function createManagement(managementUrl: string): Management {
  const send = createSender(managementUrl);
  const get = async <Answer>(path: string): Promise<Answer> => (await send("GET", path)) as Answer;
  const post = async <Answer>(path: string, body: JsonObject): Promise<Answer> =>
    (await send("POST", path, body)) as Answer;
  const put = async (path: string, body: JsonObject): Promise<void> => void (await send("PUT", path, body));
  const remove = async (path: string): Promise<void> => void (await send("DELETE", path));
  return {
    get,
    put,
    post,
    delete: remove,
    overview: async () => get(pathOf("overview")),
    putVhost: async (vhost) => put(pathOf("vhosts", vhost), {}),
    deleteVhost: async (vhost) => remove(pathOf("vhosts", vhost)),
    putPermissions: async (vhost, user) =>
      put(pathOf("permissions", vhost, user), { configure: ".*", write: ".*", read: ".*" }),
    importDefinitions: async (definitions, vhost) => {
      for (const part of partsOf(definitions)) await post(pathOf("definitions", ...optional(vhost)), part);
    },
    exportDefinitions: async (vhost) => {
      const found = await get<JsonObject>(pathOf("definitions", vhost));
      const inOrder = (value: unknown): unknown =>
        Array.isArray(value) ? value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : value;
      return Object.fromEntries(Object.entries(found).map(([key, value]) => [key, inOrder(value)]));
    },
    declareExchange: async (vhost, name, exchange) => put(pathOf("exchanges", vhost, name), exchange),
    declareQueue: async (vhost, name, queue) => put(pathOf("queues", vhost, name), queue),
    bind: async (vhost, binding) => {
      const kind = binding.destinationType === "queue" ? "q" : "e";
      const path = pathOf("bindings", vhost, "e", binding.source, kind, binding.destination);
      await post(path, { routing_key: binding.routingKey, arguments: binding.arguments ?? {} });
    },
    putPolicy: async (vhost, name, policy) => put(pathOf("policies", vhost, name), policy),
    policies: async (vhost) => get(pathOf("policies", vhost)),
    queue: async (vhost, name) => get(pathOf("queues", vhost, name)),
    queues: async (vhost) => get(pathOf("queues", ...optional(vhost))),
    getMessages: async (vhost, queue, count, ackMode) =>
      post(pathOf("queues", vhost, queue, "get"), { count, ackmode: ackMode, encoding: "auto" }),
  };
}

/**
 * A busy broker may take minutes for hundreds of quorum queues, and may close the connection before its answer. So the
 * queues come a hundred at a time, and the bindings after them.
 */
function* partsOf({ queues, bindings, ...others }: JsonObject): Iterable<JsonObject> {
  yield others;
  const all = (queues ?? []) as readonly unknown[];
  for (let from = 0; from < all.length; from += 100) yield { queues: all.slice(from, from + 100) };
  if (bindings !== undefined) yield { bindings };
}

/** The user and password in a URL, or guest's: a fresh broker knows no other user. */
export function credentialsOf(url: string): { readonly user: string; readonly password: string } {
  const { username, password } = new URL(url);
  return username === ""
    ? { user: "guest", password: "guest" }
    : { user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

function pathOf(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join("/");
}

function optional(part: string | undefined): readonly string[] {
  return part === undefined ? [] : [part];
}

type Sender = (method: string, path: string, body?: JsonObject) => Promise<unknown>;

function createSender(managementUrl: string): Sender {
  // fetch refuses a URL with credentials in it.
  const { user, password } = credentialsOf(managementUrl);
  const base = new URL(managementUrl);
  base.username = "";
  base.password = "";
  const headers = {
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
    "content-type": "application/json",
    // The broker closes a connection after five seconds without a request. A test that computes for that long does not
    // notice before its next request. Source: Cowboy, `request_timeout`.
    connection: "close",
  };
  return async (method, path, body) => {
    const url = `${base.href.replace(/\/$/, "")}/api/${path}`;
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A broker takes over half a minute to declare hundreds of quorum queues beside other work.
      signal: AbortSignal.timeout(path === "definitions" ? 600_000 : 60_000),
    }).catch((error: Error) => {
      throw new Error(`${method} /api/${path}: ${String(error.cause ?? error)}`, { cause: error });
    });
    const text = await response.text();
    if (!response.ok) throw new ManagementError(`${method} /api/${path}`, response.status, reasonIn(text));
    return text === "" ? undefined : JSON.parse(text);
  };
}

/** The broker explains a refusal as `{ error, reason }`; a proxy or an older page may answer in plain text. */
function reasonIn(text: string): string {
  try {
    const { error, reason } = JSON.parse(text) as { error?: unknown; reason?: unknown };
    const words = reason ?? error ?? text;
    return typeof words === "string" ? words : JSON.stringify(words);
  } catch {
    return text;
  }
}
