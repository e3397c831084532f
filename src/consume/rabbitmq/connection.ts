import { z } from "zod";

/** How a consumer reaches RabbitMQ. */
export interface RabbitmqConnection {
  /** `amqps://user:password@host/virtual-host`, also `amqp:`. Parameters of the client, such as `?heartbeat=20`, may follow. */
  readonly url: string;
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

export const rabbitmqConnection: z.ZodType<RabbitmqConnection> = z.strictObject({
  url: z
    .url({
      protocol: /^amqps?$/,
      abort: true,
      error: "is no URL such as amqp://user:password@host:5672/vhost, or amqps://host for TLS",
    })
    .refine(
      (url) => /^(%[0-9a-f]{2}|[^%])*$/i.test(new URL(url).pathname),
      "has a % in its path that begins no character",
    ),
  credentials: z
    .custom<RabbitmqConnection["credentials"]>((value) => typeof value === "function", "is no function")
    .optional(),
  managementUrl: z.url({ protocol: /^https?$/, error: "is no URL such as http://user:password@host:15672" }).optional(),
  tls: z
    .strictObject({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() })
    .optional() as z.ZodType<RabbitmqConnection["tls"]>,
}) as z.ZodType<RabbitmqConnection>;

/** The virtual host that a URL names: `/` where it has none. */
export function virtualHostOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || "/";
}
