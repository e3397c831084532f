import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { refused } from "../../diagnostics/render.ts";
import type { RabbitmqConnection } from "./connection.ts";
import { anyUrlOf, virtualHostIn } from "./connection.ts";
import { CredentialsError } from "./credentials.ts";
import { NoNodeError } from "./nodes.ts";

/** Why there is no connection, with each node that was tried. */
export function noConnections(connection: RabbitmqConnection, cause: unknown): readonly Diagnostic[] {
  if (!(cause instanceof NoNodeError)) return [noConnection(anyUrlOf(connection), cause)];
  return cause.failures().map((failure) => noConnection(failure.url, failure.cause));
}

/** What is thrown where a consumer that starts is not let in, though it was a moment before: when it was compared with what is deployed. */
export function refusalOf(connection: RabbitmqConnection, cause: unknown): unknown {
  return cause instanceof NoNodeError ? refused(noConnections(connection, cause)) : cause;
}

/** Why there is no connection. What a library says may repeat the URL with its password, so the code alone is passed on. */
export function noConnection(url: string, cause: unknown): Diagnostic {
  if (cause instanceof CredentialsError) {
    const why = cause.cause instanceof Error ? ` (${cause.cause.name})` : "";
    return diagnostic("RD807", {
      path: "options.connection.credentials",
      message: `${cause.message}${why}`,
      notes: ["what it threw is not repeated, since there may be a secret in it"],
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
      return diagnostic("RD807", {
        path: "options.connection.url",
        message: `the broker at ${host} does not know ${user}, or the password is another`,
        help: "check the user and the password; the URL takes what is special in them as %40 for @, and so on",
      });
    case "virtual host":
      return diagnostic("RD807", {
        path: "options.connection.url",
        message: `the broker at ${host} does not let ${user} into the virtual host ${virtualHostIn(url)}: there is none of this name, the user has no permission there, or one of the two may have no more connections`,
        notes: ["the client library does not pass on what the broker says; the broker's log has it"],
        help: "check the virtual host in the URL; rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ lets a user in, and list_vhost_limits and list_user_limits show the limits",
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

/** What to look at, by the code of the operating system, of TLS, or of Node's own check of certificates. */
function helpFor(code: string): string {
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "EPROTO") {
    return "what answers speaks no TLS: name the port for it, 5671 unless it was changed, or write amqp: in place of amqps:";
  }
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED/.test(code)) {
    return "check the certificates: connection.tls.ca takes the authority that the broker's is from, which has to name the host of the URL; cert and key are for a broker that asks for the client's";
  }
  return "check the host, the port (5672 for amqp:, 5671 for amqps:, unless they were changed), and whether the broker runs; once it has been connected, a consumer connects again by itself";
}

/** A consumer that publishes copies takes a channel for them beside that of its deliveries. Null where it is something else. */
export function tooFewChannels(url: string, cause: unknown): Diagnostic | null {
  const said = String((cause as { readonly message?: unknown } | null | undefined)?.message);
  const limit = /number of channels opened .*limit of \(?(\d+)/.exec(said)?.[1];
  if (limit === undefined && !said.includes("No channels left to allocate")) return null;
  const { username } = new URL(url);
  return diagnostic("RD822", {
    path: "options.connection.url",
    message:
      limit === undefined
        ? "the connection may have fewer channels than the 2 that the consumer takes"
        : `${username === "" ? "this user" : `the user ${username}`} may have ${limit} channels in all, and has no two left for the consumer`,
    notes: ["one channel is for deliveries, and where the contract publishes copies one more for these"],
    help:
      limit === undefined
        ? "raise channelMax in the URL, or channel_max in rabbitmq.conf"
        : "rabbitmqctl set_user_limits USER '{\"max-channels\": N}', with 2 for each instance of each consumer",
  });
}

/** What it is that the broker refuses: by AMQP 0-9-1 a reply code in the text, by 1.0 the condition of an error. */
function refusalIn(cause: unknown): "user" | "virtual host" | null {
  const { message, condition } = (cause ?? {}) as { readonly message?: unknown; readonly condition?: unknown };
  // A virtual host is refused by closing the connection that asks for it.
  if (/\b530\b|NOT[-_]ALLOWED|ConnectionOpenOk; got <ConnectionClose/.test(String(message))) return "virtual host";
  if (condition === "amqp:not-allowed") return "virtual host";
  const isUser = /\b403\b|ACCESS[-_]REFUSED/.test(String(message)) || condition === "amqp:unauthorized-access";
  return isUser ? "user" : null;
}
