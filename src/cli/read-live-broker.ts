import { docsPage } from "../diagnostics/docs-site.ts";
import type { HttpReader, LiveRequest } from "../brokers/broker.ts";
import { type Checked, type Diagnostic, accepted, diagnostic, refusedFor } from "../diagnostics/diagnostic.ts";
import type { ChangeRequest } from "../brokers/migrating.ts";
import type { Fetch } from "../tls/secure-fetch.ts";
import { connectionProblem } from "../foreign/connection-problem.ts";
import { type RequestBounds, type RequestBudget, defaultBounds, requestBudget } from "../foreign/request-budget.ts";

/** The parts of a URL that a person wrote. Output may use only `shown`, which has neither user nor password. */
interface BrokerAddress {
  readonly origin: string;
  readonly shown: string;
  readonly namespace: string | null;
  readonly authorization: string;
}

/** The time for a broker to begin an answer, or to continue one. */
const patienceMs = 10_000;

/** A busy broker takes long to create a quorum queue. */
const changeMs = 60_000;

/** The greeting is short. A server that takes longer for all of it, however steadily, is no broker. */
const greetingMs = 30_000;

/**
 * Reads a running broker with GET requests alone.
 *
 * It reports only the kind of an error, in words of our own. The messages of libraries and the answers of strangers may
 * repeat the URL, and with it the password.
 *
 * @param environment has the user and the password if the URL lacks them
 */
export async function readLiveBroker<Deployment>(
  url: string,
  reader: HttpReader<Deployment>,
  environment: Readonly<Record<string, string | undefined>>,
  limits: Partial<RequestBounds> & { readonly patienceMs?: number; readonly greetingMs?: number } = {},
  request: Fetch = fetch,
): Promise<Checked<Deployment>> {
  const address = addressOf(url, reader, environment);
  if (!address.ok) return address;
  const budget = requestBudget({ ...defaultBounds, ...limits });
  try {
    return await readWithin({ ...address.value, request }, reader, budget, limits);
  } finally {
    budget.end();
  }
}

async function readWithin<Deployment>(
  address: ReachedBroker,
  reader: HttpReader<Deployment>,
  budget: RequestBudget,
  limits: { readonly patienceMs?: number; readonly greetingMs?: number },
): Promise<Checked<Deployment>> {
  const { namespace } = address;
  const waitMs = limits.patienceMs ?? patienceMs;
  const ask = async ({ name, path, isOptional }: LiveRequest, wholeMs: number | null) => ({
    name,
    isOptional: isOptional === true,
    ...(await get(address, path, { waitMs, wholeMs, budget }, reader)),
  });
  const greeting = await ask(reader.greeting, limits.greetingMs ?? greetingMs);
  if ("problem" in greeting) return { ok: false, diagnostics: [greeting.problem] };
  if (!reader.isGreeting(greeting.text))
    return refusedFor("RD407", {
      path: "url",
      message: `${address.shown} answers, but not as the management API of a broker does`,
      help: reader.unreachableHelp,
    });
  const answers = [greeting, ...(await Promise.all(reader.requests(namespace).map((request) => ask(request, null))))];
  const problem = answers.find((each) => "problem" in each && !(each.isOptional && refusals.has(each.status ?? 0)));
  if (problem !== undefined && "problem" in problem) return { ok: false, diagnostics: [problem.problem] };
  const texts = answers.flatMap((each) => ("text" in each ? [[each.name, each.text] as const] : []));
  return reader.read(new Map(texts), namespace);
}

/** The HTTP statuses of an answer that this user may not have, or that this broker does not know. */
const refusals: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * Changes a running broker with one request after the other.
 *
 * @param said is called before each request
 * @returns the first refusal
 */
export async function changeLiveBroker(
  url: string,
  reader: HttpReader<unknown>,
  environment: Readonly<Record<string, string | undefined>>,
  requests: readonly ChangeRequest[],
  request: Fetch = fetch,
  said: (text: string) => void = () => undefined,
): Promise<Checked<null>> {
  const address = addressOf(url, reader, environment);
  if (!address.ok) return address;
  for (const { path, text, refusalOf, ...sent } of requests) {
    said(text);
    const budget = requestBudget(defaultBounds);
    const refusal = (status: number): Diagnostic =>
      refusalOf?.(status) ??
      diagnostic("RD408", {
        path: "",
        message: `the broker does not ${text} (${status})`,
        help: `give the user the rights that a deployment needs: ${docsPage("permissions")}`,
      });
    const patience = { waitMs: changeMs, wholeMs: null, budget };
    const answer = await get({ ...address.value, request }, path, patience, { ...reader, refusal }, sent);
    budget.end();
    // Somebody else may have deleted it.
    const isDone = "text" in answer || (sent.method === "DELETE" && answer.status === 404);
    if (!isDone) return { ok: false, diagnostics: [answer.problem] };
  }
  return accepted(null);
}

/** A URL without its user and password, fit for the output of an audit; null for a text that is no URL. */
export function withoutCredentials(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  return pathname === "/" ? origin : `${origin}${pathname}`;
}

function addressOf(
  text: string,
  { environment: names, unreachableHelp }: HttpReader<unknown>,
  environment: Readonly<Record<string, string | undefined>>,
): Checked<BrokerAddress> {
  const refuse = (message: string): Checked<never> =>
    refusedFor("RD407", { path: "url", message, help: unreachableHelp });
  const hint = `in a password @ / ? # and % are written %40 %2F %3F %23 and %25; or leave it out and set ${names.password}`;
  if (!URL.canParse(text)) return refuse(`the URL is malformed: a port is a number up to 65535, and ${hint}`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return refuse("the URL begins with neither http: nor https:, which the management API uses");
  // A password with one of these characters would end up in the path, which is shown.
  if (url.search !== "" || url.hash !== "" || url.pathname.includes("@"))
    return refuse(`the URL has more than a host and the name of a virtual host; ${hint}`);
  const path = url.pathname.slice(1);
  if (path.includes("/"))
    return refuse("the path of the URL is one name; / in the name of a virtual host is written %2F");
  const [user, password, namespace] = [url.username, url.password, path].map(decode);
  if (user === null || password === null || namespace === null) return refuse(`the URL is malformed; ${hint}`);
  const credentials = `${user || (environment[names.user] ?? "")}:${password || (environment[names.password] ?? "")}`;
  return accepted({
    origin: url.origin,
    shown: withoutCredentials(text) ?? "",
    namespace: namespace === undefined || namespace === "" ? null : namespace,
    authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
  });
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The reason of an abort: the answer as a whole took too long. */
const tooSlow = Symbol("too slow");

/** A broker with its request function. */
interface ReachedBroker extends BrokerAddress {
  readonly request: Fetch;
}

interface Patience {
  readonly waitMs: number;
  readonly wholeMs: number | null;
  readonly budget: RequestBudget;
}

async function get<Deployment>(
  address: ReachedBroker,
  path: string,
  { waitMs, wholeMs, budget }: Patience,
  reader: HttpReader<Deployment>,
  { method = "GET", body }: { readonly method?: string; readonly body?: object } = {},
): Promise<{ readonly text: string } | { readonly problem: Diagnostic; readonly status?: number }> {
  const controller = new AbortController();
  const giveUp = (): void => controller.abort();
  let timer = setTimeout(giveUp, waitMs);
  const whole = wholeMs === null ? undefined : setTimeout(() => controller.abort(tooSlow), wholeMs);
  try {
    const response = await address.request(`${address.origin}/${path}`, {
      method,
      headers: { authorization: address.authorization, accept: "application/json", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The password is for this host alone.
      redirect: "manual",
      signal: AbortSignal.any([controller.signal, budget.signal]),
    });
    const decoder = new TextDecoder();
    const pieces: string[] = [];
    for await (const bytes of response.body ?? []) {
      // A long list takes time. It only has to make progress.
      clearTimeout(timer);
      timer = setTimeout(giveUp, waitMs);
      budget.take((bytes as Uint8Array).length);
      pieces.push(decoder.decode(bytes as Uint8Array, { stream: true }));
    }
    const text = pieces.join("");
    if (response.ok) return { text };
    return { problem: reader.refusal(response.status, text, address.namespace), status: response.status };
  } catch (cause) {
    const spent = budget.problem();
    const message = controller.signal.aborted
      ? `does not answer within ${(controller.signal.reason === tooSlow ? (wholeMs ?? waitMs) : waitMs) / 1_000} s`
      : (spent ?? `cannot be read: ${connectionProblem(cause)}`);
    const input = { path: "url", message: `${address.shown} ${message}`, help: reader.unreachableHelp };
    return { problem: diagnostic("RD407", input) };
  } finally {
    clearTimeout(timer);
    clearTimeout(whole);
  }
}
