import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { entityXml, entryXml, feedXml, type Listed } from "./atom.ts";
import { type Description, type EntityKind, ManagementError } from "./description.ts";
import type { Namespace } from "./namespace.ts";
import type { Rule } from "./registry.ts";
import { everything, ruleOf, ruleXml } from "./rules.ts";
import { childOf, type Element, escapeXml, parseXml } from "./xml.ts";

export interface ManagementServer {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/**
 * The management API on plain HTTP: ATOM documents for `ServiceBusAdministrationClient`. @param port 0 for any free one
 */
export async function startManagementServer(namespace: Namespace, port: number): Promise<ManagementServer> {
  const server = createServer((request, response) => {
    void respond(namespace, request, response);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(namespace: Namespace, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const grant = namespace.access.read((request.headers.authorization ?? "").replace(/^Bearer /, ""));
    if ("reason" in grant) throw new ManagementError(401, grant.reason);
    if (!grant.rights.has("Manage")) throw new ManagementError(401, "Manage claim is required for this operation.");
    const body = await text(request);
    const { status, xml } = answer(namespace, request, body === "" ? undefined : parseXml(body));
    response.writeHead(status, { "content-type": "application/atom+xml" }).end(xml);
  } catch (error) {
    const status = error instanceof ManagementError ? error.status : 500;
    const detail = error instanceof Error ? error.message : String(error);
    const xml = `<Error><Code>${status}</Code><Detail>${escapeXml(detail)}</Detail></Error>`;
    response.writeHead(status, { "content-type": "application/xml" }).end(xml);
  }
}

interface Answer {
  readonly status: number;
  readonly xml: string;
}

function answer(namespace: Namespace, request: IncomingMessage, document: Element | undefined): Answer {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const path = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, "");
  const [owner = "", rule] = path.split(/\/Rules\//i);
  const method = request.method ?? "GET";
  if (method === "GET") {
    const list = listed(namespace, path);
    if (list !== undefined)
      return {
        status: 200,
        xml: feedXml(list, Number(searchParams.get("$skip") ?? 0), Number(searchParams.get("$top") ?? 100)),
      };
    return { status: 200, xml: rule === undefined ? got(namespace, path) : gotRule(namespace, owner, rule) };
  }
  if (method === "PUT" && document !== undefined) {
    const isUpdate = request.headers["if-match"] === "*";
    const description = childOf(document, "content")?.children[0];
    if (description === undefined) throw new ManagementError(400, "The request has no description.");
    const status = isUpdate ? 200 : 201;
    if (rule !== undefined) return { status, xml: putRule(namespace, owner, rule, description, isUpdate) };
    return { status, xml: put(namespace, path, description, isUpdate) };
  }
  if (method === "DELETE") {
    if (rule !== undefined) deleteRule(namespace, owner, rule);
    else if (!namespace.remove(path)) throw new ManagementError(404, `The entity ${path} could not be found.`);
    return { status: 200, xml: "" };
  }
  throw new ManagementError(405, `${method} is not known here.`);
}

function listed(namespace: Namespace, path: string): readonly Listed[] | undefined {
  const { registry } = namespace;
  const ofKind = (kind: EntityKind, prefix = ""): readonly Listed[] =>
    registry
      .list(kind)
      .filter((entity) => entity.path.toLowerCase().startsWith(prefix.toLowerCase()))
      .map((entity) => ({ path: entity.path, xml: entityXml(namespace, entity) }));
  if (/^\$Resources\/Queues$/i.test(path)) return ofKind("queue");
  if (/^\$Resources\/Topics$/i.test(path)) return ofKind("topic");
  const topic = /^(.+)\/Subscriptions$/i.exec(path)?.[1];
  if (topic !== undefined) return ofKind("subscription", `${topic}/Subscriptions/`);
  const owner = /^(.+)\/Rules$/i.exec(path)?.[1];
  if (owner === undefined) return undefined;
  return [...(registry.find(owner)?.rules ?? [])].map(([name, rule]) => ruleListed(owner, name, rule));
}

function ruleListed(owner: string, name: string, rule: Rule): Listed {
  return { path: `${owner}/Rules/${name}`, xml: { kind: "Rule", content: ruleXml(name, rule) } };
}

/** A missing entity gives an empty list, not an error. */
function got(namespace: Namespace, path: string): string {
  const entity = namespace.registry.find(path);
  return entity === undefined ? feedXml([], 0, 1) : entryXml({ path: entity.path, xml: entityXml(namespace, entity) });
}

function gotRule({ registry }: Namespace, owner: string, name: string): string {
  const rule = registry.find(owner)?.rules.get(name);
  return rule === undefined ? feedXml([], 0, 1) : entryXml(ruleListed(owner, name, rule));
}

const kinds: Readonly<Record<string, EntityKind>> = {
  QueueDescription: "queue",
  TopicDescription: "topic",
  SubscriptionDescription: "subscription",
};

/** Read only, but the client sends them back. */
const ignored = new Set(["DefaultRuleDescription", "CountDetails", "MessageCount", "SizeInBytes"]);

function put(namespace: Namespace, path: string, document: Element, isUpdate: boolean): string {
  const kind = kinds[document.name];
  if (kind === undefined) throw new ManagementError(400, `The emulator does not know a ${document.name}.`);
  const given: Description = Object.fromEntries(
    document.children.filter(({ name }) => !ignored.has(name)).map(({ name, text }) => [name, text.trim()]),
  );
  const { registry } = namespace;
  if (isUpdate) registry.update(path, given);
  else registry.create(kind, path, given);
  if (kind === "subscription" && !isUpdate) {
    const first = childOf(document, "DefaultRuleDescription");
    const name = childOf(first, "Name")?.text ?? "$Default";
    const rule = first === undefined ? { filter: everything, createdAt: new Date() } : ruleOf(first);
    registry.setRules(path, (rules) => rules.set(name, rule));
  }
  const entity = registry.find(path);
  if (entity === undefined) throw new Error(`${path} is not there after it was registered`);
  namespace.refresh(entity);
  return entryXml({ path: entity.path, xml: entityXml(namespace, entity) });
}

function putRule({ registry }: Namespace, owner: string, name: string, document: Element, isUpdate: boolean): string {
  const rule = ruleOf(document);
  registry.setRules(owner, (rules) => {
    if (rules.has(name) !== isUpdate)
      throw new ManagementError(
        isUpdate ? 404 : 409,
        `The rule ${name} ${isUpdate ? "is not there" : "exists already"}.`,
      );
    rules.set(name, rule);
  });
  return entryXml(ruleListed(owner, name, rule));
}

function deleteRule({ registry }: Namespace, owner: string, name: string): void {
  registry.setRules(owner, (rules) => {
    if (!rules.delete(name)) throw new ManagementError(404, `The rule ${name} could not be found.`);
  });
}
