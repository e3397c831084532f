import { z } from "zod";

/** How a consumer reaches RabbitMQ. */
export interface RabbitmqConnection {
  /**
   * `amqps://user:password@host/virtual-host`, also `amqp:`. Parameters of the client may follow: `?heartbeat=20`, in seconds, and
   * with amqplib also `channelMax`, `frameMax`, `maxFrameSize` and `locale`. Or one for each node of a cluster: every connection is made with one of them that lets the client in.
   */
  readonly url: string | readonly string[];
  /**
   * Fetches what counts in place of the user and the password in the URL: a token of OAuth 2.0, say. It is called for each connection, again before
   * what it gave has expired, and when the broker refuses a copy; so it should give what is still good for a while.
   */
  readonly credentials?: (() => Promise<RabbitmqCredentials>) | undefined;
  /**
   * `https://user:password@host`: the management API. With it the arguments, policies and bindings of what is deployed are compared before
   * anything is consumed; AMQP alone tells no more than what is there. Without a user in it, that of the connection counts.
   */
  readonly managementUrl?: string | undefined;
  /** What TLS needs beside the machine's own certificates: in PEM. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
}

export interface RabbitmqCredentials {
  /** RabbitMQ takes no notice of it where the password is a token. */
  readonly username?: string | undefined;
  /** The token itself, with OAuth 2.0. */
  readonly password: string;
  /** When the broker will not take it any more; left out, nothing is renewed before the broker refuses something. */
  readonly expiration?: Date | undefined;
}

type Parameters = Readonly<Record<string, (value: string) => boolean>>;

const upTo =
  (most: number) =>
  (value: string): boolean =>
    /^\d+$/.test(value) && Number(value) <= most;
const short = upTo(2 ** 16 - 1);
const long = upTo(2 ** 32 - 1);

/** With what AMQP 0-9-1 has room for. Source: amqplib, `lib/connect.js`. */
const parametersOfAmqplib: Parameters = {
  heartbeat: short,
  channelMax: short,
  frameMax: long,
  maxFrameSize: long,
  locale: (value) => value !== "",
};

/** One that a client does not know it would pass over in silence, and whoever wrote it relies on it. */
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
    }, `has a parameter that the client of this strategy does not take: it takes ${names}, once, and of what is counted a whole number`);
}

/** What is wrong with a text, or with a list, is told as if nothing else could stand there. */
function oneOrMore(single: z.ZodType<string>): z.ZodType {
  const cluster = z
    .array(single)
    .min(1)
    .refine(
      (urls) => !urls.every((url) => single.safeParse(url).success) || new Set(urls.map(virtualHostIn)).size <= 1,
      "names more than one virtual host",
    );
  return z.unknown().superRefine((value, context) => {
    const { error } = (Array.isArray(value) ? cluster : single).safeParse(value);
    for (const { message, path } of error?.issues ?? []) context.addIssue({ code: "custom", message, path });
  });
}

function connectionWith(parameters: Parameters): z.ZodType<RabbitmqConnection> {
  return z.strictObject({
    url: oneOrMore(brokerUrl(parameters)),
    credentials: z
      .custom<RabbitmqConnection["credentials"]>((value) => typeof value === "function", "is no function")
      .optional(),
    managementUrl: z
      .url({ protocol: /^https?$/, error: "is no URL such as http://user:password@host:15672" })
      .optional(),
    tls: z
      .strictObject({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() })
      .optional() as z.ZodType<RabbitmqConnection["tls"]>,
  }) as z.ZodType<RabbitmqConnection>;
}

/** For amqplib. */
export const connectionByAmqp091 = connectionWith(parametersOfAmqplib);
/** For rhea, which has no URLs of its own. */
export const connectionByAmqp10 = connectionWith({ heartbeat: short });

/** All URLs of a connection. */
export function urlsOf({ url }: RabbitmqConnection): readonly string[] {
  return typeof url === "string" ? [url] : url;
}

/** The first URL of a connection: what it says of the user and the virtual host counts where no node is meant. */
export function anyUrlOf(connection: RabbitmqConnection): string {
  const [url] = urlsOf(connection);
  if (url === undefined) throw new Error("the connection has no URL");
  return url;
}

/** The virtual host that a URL names: `/` where it has none. */
export function virtualHostIn(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || "/";
}
