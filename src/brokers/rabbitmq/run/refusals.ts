import { type Diagnostic, diagnostic } from "../../../diagnostics/diagnostic.ts";
import { refused } from "../../../diagnostics/render.ts";
import { type RabbitmqConnection, anyUrlOf, virtualHostIn } from "./connection.ts";
import { CredentialsError } from "./credentials.ts";
import { NoNodeError } from "./nodes.ts";

/** Why there is no connection, with each node that was tried. */
export function noConnections(connection: RabbitmqConnection, cause: unknown): readonly Diagnostic[] {
  const { sasl } = connection;
  if (!(cause instanceof NoNodeError)) return [noConnection(anyUrlOf(connection), cause, sasl)];
  return cause.failures().map((failure) => noConnection(failure.url, failure.cause, sasl));
}

/** The error of a starting consumer that was let in for the comparison, but not a moment later. */
export function refusalOf(connection: RabbitmqConnection, cause: unknown): unknown {
  return cause instanceof NoNodeError ? refused(noConnections(connection, cause)) : cause;
}

/**
 * Why there is no connection. A library's message may repeat the URL with its password, so only the code is passed on.
 */
export function noConnection(url: string, cause: unknown, sasl?: RabbitmqConnection["sasl"]): Diagnostic {
  if (cause instanceof CredentialsError) {
    const why = cause.cause instanceof Error ? ` (${cause.cause.name})` : "";
    return diagnostic("RD807", {
      path: "options.connection.credentials",
      message: `${cause.message}${why}`,
      notes: ["its error is not repeated, because it may contain a secret"],
      help: "let it return { username, password, expiration }, with a token of OAuth 2.0 as the password",
    });
  }
  const { hostname, port, username } = new URL(url);
  const host = port === "" ? hostname : `${hostname}:${port}`;
  const user = username === "" ? "this user" : `the user ${username}`;
  const limit = tooFewChannels(url, cause);
  if (limit !== null) return limit;
  switch (refusalIn(cause)) {
    case "user":
      if (sasl === "external") return certificateRefused(host);
      return diagnostic("RD807", {
        path: "options.connection.url",
        message: `the broker at ${host} does not know ${user}, or the password is another`,
        help: "check the user and the password; escape special characters in the URL, such as %40 for @",
      });
    case "virtual host":
      return diagnostic("RD807", {
        path: "options.connection.url",
        message: `the broker at ${host} does not let ${user} into the virtual host ${virtualHostIn(url)}: it does not exist, the user has no permission there, or a limit of connections is reached`,
        notes: ["the client library does not pass on the broker's reason; the broker's log has it"],
        help: "check the virtual host in the URL; rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ admits a user, and list_vhost_limits and list_user_limits show the limits",
      });
    case null:
      break;
  }
  const code = (cause as { readonly code?: unknown } | null | undefined)?.code;
  return diagnostic("RD804", {
    path: "options.connection.url",
    message: `there is no connection to the broker at ${host}${typeof code === "string" ? ` (${code})` : ""}`,
    help: helpFor(typeof code === "string" ? code : ""),
  });
}

function certificateRefused(host: string): Diagnostic {
  return diagnostic("RD807", {
    path: "options.connection.tls.cert",
    message: `the broker at ${host} knows no user by the name in the certificate, or takes no certificate in place of a password`,
    notes: ["ssl_cert_login_from in rabbitmq.conf says which name counts: distinguished_name unless it was changed"],
    help: "rabbitmqctl add_user makes a user of that name; rabbitmq-plugins enable rabbitmq_auth_mechanism_ssl and auth_mechanisms in rabbitmq.conf let EXTERNAL in",
  });
}

/** The advice for a code of the operating system, of TLS, or of Node's own check of certificates. */
function helpFor(code: string): string {
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "EPROTO")
    return "the program that answers does not speak TLS: use the TLS port, 5671 by default, or write amqp: instead of amqps:";
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED|ALERT/.test(code))
    return "check the certificates: connection.tls.ca takes the authority of the broker's certificate, which has to name the host of the URL; cert and key are for a broker that asks for a client certificate, from an authority that it knows";
  return "check the host, the port (by default 5672 for amqp:, 5671 for amqps:), and whether the broker runs; after its first connection a consumer reconnects by itself";
}

/** A consumer that publishes copies needs a second channel for them. Null for any other error. */
export function tooFewChannels(url: string, cause: unknown): Diagnostic | null {
  const said = String((cause as { readonly message?: unknown } | null | undefined)?.message);
  const limit = /number of channels opened .*limit of \(?(\d+)/.exec(said)?.[1];
  if (limit === undefined && !said.includes("No channels left to allocate")) return null;
  const { username } = new URL(url);
  return diagnostic("RD822", {
    path: "options.connection.url",
    message:
      limit === undefined
        ? "a connection may have fewer channels than the consumer takes"
        : `${username === "" ? "this user" : `the user ${username}`} may have ${limit} channels in all, and has too few left for the consumer`,
    notes: [
      "one channel is for deliveries; where the contract publishes copies, a second connection has one for each exchange that they go to",
    ],
    help:
      limit === undefined
        ? "raise channelMax in the URL, or channel_max in rabbitmq.conf"
        : "rabbitmqctl set_user_limits USER '{\"max-channels\": N}', with 1 for each instance of each consumer, and 1 more for each exchange that its copies go to",
  });
}

/**
 * The thing that the broker refuses. AMQP 0-9-1 has a reply code in the text, and 1.0 has the condition of an error.
 */
function refusalIn(cause: unknown): "user" | "virtual host" | null {
  const { message, condition } = (cause ?? {}) as { readonly message?: unknown; readonly condition?: unknown };
  // The broker refuses a virtual host by closing the connection that asks for it.
  if (/\b530\b|NOT[-_]ALLOWED|ConnectionOpenOk; got <ConnectionClose/.test(String(message))) return "virtual host";
  if (condition === "amqp:not-allowed") return "virtual host";
  const isUser =
    /\b403\b|ACCESS[-_]REFUSED|SASL mechanism EXTERNAL is not provided/.test(String(message)) ||
    condition === "amqp:unauthorized-access";
  return isUser ? "user" : null;
}
