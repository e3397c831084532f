import { z } from "zod";

import { type TlsOptions, tlsProblemOf } from "../../../tls/tls-options.ts";

/** The options for connecting to RabbitMQ. */
export interface RabbitmqConnection {
  /**
   * `amqps://user:password@host/virtual-host`, also `amqp:`. Parameters of the client may follow: `?heartbeat=20`, in
   * seconds, and with amqplib also `channelMax`, `frameMax`, `maxFrameSize` and `locale`. A list names the nodes of a
   * cluster: every connection uses one that lets the client in.
   */
  readonly url: string | readonly string[];
  /**
   * Fetches credentials that replace the user and the password in the URL, for example a token of OAuth 2.0. Redeliver
   * calls it for each connection, again before the last ones expire, and when the broker refuses a copy. So return
   * credentials that stay valid for a while.
   */
  readonly credentials?: (() => Promise<RabbitmqCredentials>) | undefined;
  /**
   * `https://user:password@host`: the management API. With it Redeliver compares arguments, policies and bindings
   * before it consumes. AMQP alone only shows that a resource exists. A URL without a user uses that of the connection.
   */
  readonly managementUrl?: string | undefined;
  /**
   * TLS settings beside the machine's own: certificates and a key, in PEM. They hold for the broker and for the
   * management API.
   */
  readonly tls?: TlsOptions | undefined;
  /**
   * `external`: the certificate in `tls` names the user, instead of a user and a password. The broker needs the plugin
   * `rabbitmq_auth_mechanism_ssl` for it. Its management API does not accept it, so a `managementUrl` then needs its
   * own user.
   */
  readonly sasl?: "external" | undefined;
}

export interface RabbitmqCredentials {
  /** RabbitMQ ignores it if the password is a token. */
  readonly username?: string | undefined;
  /** The token itself, with OAuth 2.0. */
  readonly password: string;
  /** The time from which the broker refuses it. Without it, Redeliver renews only after a refusal. */
  readonly expiration?: Date | undefined;
}

type Parameters = Readonly<Record<string, (value: string) => boolean>>;

const upTo =
  (most: number) =>
  (value: string): boolean =>
    /^\d+$/.test(value) && Number(value) <= most;
const short = upTo(2 ** 16 - 1);
const long = upTo(2 ** 32 - 1);

/** The limits are those of AMQP 0-9-1. Source: amqplib, `lib/connect.js`. */
const parametersOfAmqplib: Parameters = {
  heartbeat: short,
  channelMax: short,
  frameMax: long,
  maxFrameSize: long,
  locale: (value) => value !== "",
};

/** A client silently ignores a parameter that it does not know, but its author relies on it. So it is an error. */
function brokerUrl(parameters: Parameters): z.ZodType<string> {
  const names = Object.keys(parameters).join(", ");
  return z
    .url({
      protocol: /^amqps?$/,
      abort: true,
      error: "is no URL such as amqp://user:password@host:5672/vhost, or amqps://host for TLS",
    })
    .refine(
      (url) => /^(%[0-9a-f]{2}|[^%])*$/i.test(new URL(url).pathname),
      "has a % in its path that begins no character",
    )
    .refine((url) => {
      const given = [...new URL(url).searchParams];
      const isKnown = given.every(([name, value]) => parameters[name]?.(value) === true);
      return isKnown && new Set(given.map(([name]) => name)).size === given.length;
    }, `has a parameter that the client of this strategy does not accept: it accepts ${names}, each once, and whole numbers for counts`);
}

/** No cluster has this many nodes. */
const mostNodes = 1_000;

/** Reports the problems of a text or of a list as if only that form were allowed. */
function oneOrMore(single: z.ZodType<string>): z.ZodType {
  const cluster = z
    .array(single)
    .min(1, "is an empty list")
    .refine(
      (urls) => !urls.every((url) => single.safeParse(url).success) || new Set(urls.map(virtualHostIn)).size <= 1,
      "names more than one virtual host",
    );
  return z.unknown().superRefine((value, context) => {
    if (Array.isArray(value) && value.length > mostNodes) {
      context.addIssue({ code: "custom", message: `names more than ${mostNodes} nodes` });
      return;
    }
    const { error } = (Array.isArray(value) ? cluster : single).safeParse(value);
    for (const { message, path } of error?.issues ?? []) context.addIssue({ code: "custom", message, path });
  });
}

const tlsOptions = z
  .strictObject({
    ca: z.string().optional(),
    cert: z.string().optional(),
    key: z.string().optional(),
    passphrase: z.string().optional(),
  })
  .superRefine((tls, context) => {
    const problem = tlsProblemOf(tls);
    if (problem !== null) context.addIssue({ code: "custom", path: [problem.part], message: problem.message });
  });

function connectionWith(parameters: Parameters): z.ZodType<RabbitmqConnection> {
  return z
    .strictObject({
      url: oneOrMore(brokerUrl(parameters)),
      credentials: z
        .custom<RabbitmqConnection["credentials"]>((value) => typeof value === "function", "is no function")
        .optional(),
      managementUrl: z
        .url({ protocol: /^https?$/, error: "is no URL such as http://user:password@host:15672" })
        .optional(),
      tls: tlsOptions.optional() as z.ZodType<RabbitmqConnection["tls"]>,
      sasl: z.literal("external", { error: "is none but external" }).optional(),
    })
    .superRefine((connection, context) => {
      const given = connection as RabbitmqConnection;
      for (const [path, message] of [...unusedTlsOf(given), ...externalProblemsOf(given)])
        context.addIssue({ code: "custom", path: [path], message });
    }) as z.ZodType<RabbitmqConnection>;
}

type Problem = readonly [keyof RabbitmqConnection, string];

/** Certificates that no connection would use: their author relies on TLS. */
function unusedTlsOf({ url, tls, managementUrl }: RabbitmqConnection): readonly Problem[] {
  const isPlain = [url].flat().every((each) => /^amqp:/i.test(String(each)));
  const isUsed = !isPlain || /^https:/i.test(managementUrl ?? "");
  return tls === undefined || isUsed ? [] : [["tls", "is given, and no URL is one of amqps: or https:"]];
}

/** Other settings that name a user, and settings without which the certificate cannot name one. */
function externalProblemsOf({ url, sasl, tls, credentials, managementUrl }: RabbitmqConnection): readonly Problem[] {
  if (sasl === undefined) return [];
  // Another problem reports a text that is no URL.
  const urls = [url].flat().flatMap((each) => URL.parse(String(each)) ?? []);
  const because = "with sasl: external the certificate tells the user";
  const problems: readonly (readonly [boolean, ...Problem])[] = [
    [tls?.cert === undefined, "tls", `has no cert, and ${because}`],
    [urls.some(({ protocol }) => protocol !== "amqps:"), "url", `has to be amqps:, since ${because}`],
    [urls.some(({ username }) => username !== ""), "url", `has a user, and ${because}`],
    [credentials !== undefined, "credentials", `are given, and ${because}`],
    [
      managementUrl !== undefined && URL.parse(managementUrl)?.username === "",
      "managementUrl",
      "has no user of its own, and the management API takes no certificate in place of one",
    ],
  ];
  return problems.flatMap(([is, ...problem]) => (is ? [problem] : []));
}

/** For amqplib. */
export const connectionByAmqp091 = connectionWith(parametersOfAmqplib);
/** For rhea, which knows no URLs. */
export const connectionByAmqp10 = connectionWith({ heartbeat: short });

export function urlsOf({ url }: RabbitmqConnection): readonly string[] {
  return typeof url === "string" ? [url] : url;
}

/** The first URL of a connection. Its user and virtual host apply where no particular node is meant. */
export function anyUrlOf(connection: RabbitmqConnection): string {
  const [url] = urlsOf(connection);
  if (url === undefined) throw new Error("the connection has no URL");
  return url;
}

/** The virtual host that a URL names. `/` if it names none. */
export function virtualHostIn(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || "/";
}
