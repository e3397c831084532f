import { docsPage } from "../../diagnostics/docs-site.ts";
import { type StackKeys, option, text } from "../stack-keys.ts";

/** The configuration of a stack that deploys to RabbitMQ. Pulumi encrypts the password in the state. */
export const stack = Object.freeze({
  component: "RetryTopology from redeliver/pulumi",
  hasPassword: true,
  target: {
    version: text,
    strategy: text.optional(),
    strategies: option,
    since: option,
    policies: option,
    deadQueue: option,
  },
  others: {
    vhost: text.regex(/^[^@]*$/),
    /** The URL of the management API. */
    endpoint: text.refine(isPlainHttpUrl).transform(withoutEnd),
    username: text,
    /** Files in PEM, for an endpoint of `https:`. Paths start at the folder of the program. */
    cacertFile: text.exactOptional(),
    clientcertFile: text.exactOptional(),
    clientkeyFile: text.exactOptional(),
  },
  howTo: {
    target: 'write target as a mapping, for example { broker: rabbitmq, version: "4.3" }',
    "target.version": 'write a version in quotes, for example version: "4.3"',
    vhost: "write the name of a virtual host that is there, for example /",
    endpoint: "write the URL of the management API, for example http://localhost:15672",
    username: `write the name of a RabbitMQ user with the tag policymaker; its permissions are in ${docsPage("permissions")}`,
  },
  problemOf: (path: string, value: unknown) => {
    if (path === "vhost") return "the name of the vhost contains @, where the Pulumi provider splits its resource ids";
    if (path !== "endpoint") return null;
    if (String(value).includes("@")) return "the endpoint contains credentials, which would be in clear in the state";
    return /[?#]/.test(String(value))
      ? "the endpoint has more than a host and a path; a token there would be in clear in the state"
      : "the endpoint is not an http or https URL";
  },
} satisfies StackKeys);

/**
 * The endpoint is no secret, so credentials in the URL would be in clear in the state. A query may hold a token, and
 * the API takes none.
 */
function isPlainHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && !/[@?#]/.test(value);
}

/** The provider appends `/api/…` to the endpoint as it is, and RabbitMQ answers a path with `//` in it with 405. */
function withoutEnd(url: string): string {
  return url.replace(/\/+$/, "");
}
