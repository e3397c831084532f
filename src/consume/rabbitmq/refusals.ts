import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { virtualHostOf } from "./connection.ts";
import { CredentialsError } from "./credentials.ts";

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
        message: `the broker at ${host} does not let ${user} into the virtual host ${virtualHostOf(url)}, or there is none of this name`,
        help: "check the virtual host in the URL; rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ lets a user in",
      });
    case null:
      break;
  }
  const code = (cause as { readonly code?: unknown } | null | undefined)?.code;
  return diagnostic("RD804", {
    path: "options.connection.url",
    message: `there is no connection to the broker at ${host}${typeof code === "string" ? ` (${code})` : ""}`,
    help: "check the host, the port, and whether the broker runs; once it has been connected, a consumer connects again by itself",
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

/** The broker lets the user in, and does not let it do what the contract takes. */
export function notPermitted(access: "read" | "write", name: string, virtualHost: string, cause: unknown): Diagnostic {
  const [doing, what, why] =
    access === "read"
      ? ["read from", "queue", "its messages are there"]
      : ["write to", "exchange", "the contract publishes copies there; a message whose copy is refused is never done"];
  return diagnostic("RD807", {
    path: name,
    message: `${userIn(cause)} may not ${doing} the ${what} ${name} in the virtual host ${virtualHost}`,
    notes: [why],
    help: `rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ, with a ${access.toUpperCase()} that matches ${name}`,
  });
}

/** Where every instance has a queue of its own, the broker names it. */
export function noQueueOfItsOwn(exchanges: readonly string[], virtualHost: string, cause: unknown): Diagnostic {
  const sources = exchanges.join(", ");
  return diagnostic("RD807", {
    path: "options.connection.url",
    message: `${userIn(cause)} may not make a queue of its own and bind it to ${sources} in the virtual host ${virtualHost}`,
    notes: [
      `each instance takes the permission to configure, write to and read from its own queue, whose name begins with amq.gen-, and to read from ${sources}`,
    ],
    help: "rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ, with three that match",
  });
}

/** By the broker's own words, since a token may have another name for the user than the URL. */
function userIn(cause: unknown): string {
  const { message, description } = (cause ?? {}) as { readonly message?: unknown; readonly description?: unknown };
  const name = /refused for user '([^']*)'/.exec(`${String(message)} ${String(description)}`)?.[1];
  return name === undefined ? "this user" : `the user ${name}`;
}

export function missing(what: "queue" | "exchange", name: string): Diagnostic {
  return diagnostic("RD805", {
    path: name,
    message: `there is no ${what} ${name} in this virtual host`,
    notes: ["what is declared was not deployed here, or was deployed under another name"],
    help: "deploy the system before its consumers, or correct the virtual host in the URL",
  });
}
