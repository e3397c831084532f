import { z } from "zod";

/** How a consumer reaches RabbitMQ. */
export interface RabbitmqConnection {
  /** `amqps://user:password@host/virtual-host`, also `amqp:`. Parameters of the client, such as `?heartbeat=20`, may follow. */
  readonly url: string;
  /**
   * `https://user:password@host`: the management API. With it the arguments and policies of what is deployed are compared before anything
   * is consumed; AMQP alone tells no more than what is there.
   */
  readonly managementUrl?: string | undefined;
  /** What TLS needs beside the machine's own certificates: in PEM. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
}

export const rabbitmqConnection: z.ZodType<RabbitmqConnection> = z.strictObject({
  url: z.url({ protocol: /^amqps?$/ }),
  managementUrl: z.url({ protocol: /^https?$/ }).optional(),
  tls: z
    .strictObject({ ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() })
    .optional() as z.ZodType<RabbitmqConnection["tls"]>,
}) as z.ZodType<RabbitmqConnection>;

/** The virtual host that a URL names: `/` where it has none. */
export function virtualHostOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || "/";
}
