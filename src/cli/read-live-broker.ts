import type { HttpReader, LiveRequest } from "../brokers/broker.ts";
import type { Checked, Diagnostic } from "../diagnostics/diagnostic.ts";
import { diagnostic } from "../diagnostics/diagnostic.ts";
import { connectionProblem } from "./connection-problem.ts";

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
      : `${address.shown} cannot be read: ${connectionProblem(cause)}`;
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
