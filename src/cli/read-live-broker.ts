import type { HttpReader, LiveRequest } from "../brokers/broker.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";

/** A URL that a person wrote, taken apart. What is shown of it is `shown` alone: it has neither user nor password. */
interface BrokerAddress {
  readonly origin: string;
  readonly shown: string;
  readonly namespace: string | null;
  readonly authorization: string;
}

/** How long a broker may take to begin an answer, or to go on with one. */
const patienceMs = 10_000;

/** The greeting is short: who takes longer for all of it, however steadily, is no broker. */
const greetingMs = 30_000;

/**
 * Reads a running broker with GET requests alone.
 *
 * Of what goes wrong only the kind is told, in words of our own: the messages of libraries and the answers of strangers may repeat the
 * URL, and with it the password.
 *
 * @param environment where the user and the password come from that the URL does not have
 */
export async function readLiveBroker<Deployment>(
  url: string,
  reader: HttpReader<Deployment>,
  environment: Readonly<Record<string, string | undefined>>,
  limits: { readonly patienceMs: number; readonly greetingMs?: number } = { patienceMs },
): Promise<Checked<Deployment>> {
  const address = addressOf(url, reader, environment);
  if (!address.ok) return address;
  const { namespace } = address.value;
  const ask = async ({ name, path }: LiveRequest, wholeMs: number | null): Promise<Answer> =>
    ({ name, ...(await get(address.value, path, { waitMs: limits.patienceMs, wholeMs }, reader)) }) as Answer;
  const greeting = await ask(reader.greeting, limits.greetingMs ?? greetingMs);
  if ("problem" in greeting) return { ok: false, diagnostics: [greeting.problem] };
  if (!reader.isGreeting(greeting.text)) return { ok: false, diagnostics: [strangerAt(address.value, reader)] };
  const answers = [greeting, ...(await Promise.all(reader.requests(namespace).map((request) => ask(request, null))))];
  const problem = answers.find((each) => "problem" in each);
  if (problem !== undefined && "problem" in problem) return { ok: false, diagnostics: [problem.problem] };
  return reader.read(new Map(answers.map((each) => [each.name, "text" in each ? each.text : ""])), namespace);
}

type Answer = { readonly name: string } & ({ readonly text: string } | { readonly problem: Diagnostic });

/** A URL without its user and password, such as an audit may show; null for what is none. */
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
  const refuse = (message: string): Checked<never> => ({
    ok: false,
    diagnostics: [diagnostic("RD407", { path: "url", message, help: unreachableHelp })],
  });
  const hint = `in a password @ / ? # and % are written %40 %2F %3F %23 and %25; or leave it out and set ${names.password}`;
  if (!URL.canParse(text)) return refuse(`the URL is malformed; ${hint}`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refuse("the URL is none of http: or https:, which the management API is served by");
  }
  // A password with one of these characters would end up in the path, and the path is shown.
  if (url.search !== "" || url.hash !== "" || url.pathname.includes("@")) {
    return refuse(`the URL has more than a host and the name of a virtual host; ${hint}`);
  }
  const path = url.pathname.slice(1);
  if (path.includes("/"))
    return refuse("the path of the URL is one name; / in the name of a virtual host is written %2F");
  const [user, password, namespace] = [url.username, url.password, path].map(decode);
  if (user === null || password === null || namespace === null) return refuse(`the URL is malformed; ${hint}`);
  const credentials = `${user || (environment[names.user] ?? "")}:${password || (environment[names.password] ?? "")}`;
  return {
    ok: true,
    warnings: [],
    value: {
      origin: url.origin,
      shown: withoutCredentials(text) ?? "",
      namespace: namespace === undefined || namespace === "" ? null : namespace,
      authorization: `Basic ${Buffer.from(credentials).toString("base64")}`,
    },
  };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Says of an abort that the answer as a whole took too long. */
const tooSlow = Symbol("too slow");

async function get<Deployment>(
  address: BrokerAddress,
  path: string,
  { waitMs, wholeMs }: { readonly waitMs: number; readonly wholeMs: number | null },
  reader: HttpReader<Deployment>,
): Promise<{ readonly text: string } | { readonly problem: Diagnostic }> {
  const controller = new AbortController();
  const giveUp = (): void => controller.abort();
  let timer = setTimeout(giveUp, waitMs);
  const whole = wholeMs === null ? undefined : setTimeout(() => controller.abort(tooSlow), wholeMs);
  try {
    const response = await fetch(`${address.origin}/${path}`, {
      headers: { authorization: address.authorization, accept: "application/json" },
      // The password is for this host alone.
      redirect: "manual",
      signal: controller.signal,
    });
    const decoder = new TextDecoder();
    const pieces: string[] = [];
    for await (const bytes of response.body ?? []) {
      // A long list takes its time; what counts is that it goes on.
      clearTimeout(timer);
      timer = setTimeout(giveUp, waitMs);
      pieces.push(decoder.decode(bytes as Uint8Array, { stream: true }));
    }
    const text = pieces.join("");
    if (response.ok) return { text };
    return { problem: reader.refusal(response.status, text, address.namespace) };
  } catch (cause) {
    const message = controller.signal.aborted
      ? `${address.shown} does not answer within ${(controller.signal.reason === tooSlow ? (wholeMs ?? waitMs) : waitMs) / 1_000} s`
      : `${address.shown} cannot be read: ${reasonOf(cause)}`;
    return { problem: diagnostic("RD407", { path: "url", message, help: reader.unreachableHelp }) };
  } finally {
    clearTimeout(timer);
    clearTimeout(whole);
  }
}

function strangerAt(address: BrokerAddress, { unreachableHelp }: HttpReader<unknown>): Diagnostic {
  return diagnostic("RD407", {
    path: "url",
    message: `${address.shown} answers, but not as the management API of a broker does`,
    help: unreachableHelp,
  });
}

/** The code of the error at the bottom, in plain words. Its message is not passed on. */
function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  switch (code) {
    case "ECONNREFUSED":
      return "nothing listens there (connection refused)";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the name of the host is not known";
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return "there is no way to the host";
    case "ETIMEDOUT":
    case "UND_ERR_CONNECT_TIMEOUT":
      return "the host does not take the connection in time";
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return "the connection was cut; a port for https does that to http";
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
    case "EPROTO":
      return "the port does not speak TLS: write http:, or name the port for https";
    case "CERT_HAS_EXPIRED":
      return "its certificate has expired";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return "its certificate is for another host";
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return "its certificate is not trusted; NODE_EXTRA_CA_CERTS names a file with the authority's own";
    default:
      return /^HPE_|^HTTPParserError$/.test(code) ? "what answers does not speak HTTP" : `the request failed (${code})`;
  }
}

/** The first code on the way down; where there is none, the name of the error at the bottom. */
function codeOf(cause: unknown): string {
  let name = "unknown";
  for (let error = cause; error instanceof Error; error = error.cause) {
    const code = "code" in error ? error.code : undefined;
    if (typeof code === "string" && /^[A-Z0-9_]+$/.test(code)) return code;
    if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
    name = error.name;
  }
  return name;
}
