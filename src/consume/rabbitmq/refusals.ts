import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
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
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: "", port: "" };
  const host = port === "" ? hostname : `${hostname}:${port}`;
  if (isRefusal(cause)) {
    return diagnostic("RD807", {
      path: "options.connection.url",
      message: `the broker at ${host} does not let this user in, or not into this virtual host`,
      help: "check the user, the password and the virtual host; rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ",
    });
  }
  const code = (cause as { readonly code?: unknown } | null | undefined)?.code;
  return diagnostic("RD804", {
    path: "options.connection.url",
    message: `there is no connection to the broker at ${host}${typeof code === "string" ? ` (${code})` : ""}`,
    help: "check the host, the port, and whether the broker runs; once it has been connected, a consumer connects again by itself",
  });
}

/** By AMQP 0-9-1 a reply code in the text, by 1.0 the condition of an error. */
function isRefusal(cause: unknown): boolean {
  const { message, condition } = (cause ?? {}) as { readonly message?: unknown; readonly condition?: unknown };
  return (
    // A virtual host is refused by closing the connection that asks for it.
    /\b(403|530)\b|ACCESS[-_]REFUSED|NOT[-_]ALLOWED|ConnectionOpenOk; got <ConnectionClose/.test(String(message)) ||
    /^amqp:(unauthorized-access|not-allowed)$/.test(String(condition))
  );
}

/** The broker lets the user in, and does not let it do what the contract takes. */
export function notPermitted(access: "read" | "write", name: string, virtualHost: string, cause: unknown): Diagnostic {
  const user = userIn(cause);
  const [doing, what] = access === "read" ? ["read from", "queue"] : ["write to", "exchange"];
  return diagnostic("RD807", {
    path: name,
    message: `${user === null ? "this user" : `the user ${user}`} may not ${doing} the ${what} ${name} in the virtual host ${virtualHost}`,
    ...(access === "read"
      ? {}
      : { notes: ["the contract publishes copies there; a message whose copy is refused is never done"] }),
    help: `rabbitmqctl set_permissions -p VHOST USER CONFIGURE WRITE READ, with a ${access.toUpperCase()} that matches ${name}`,
  });
}

/** By the broker's own words, since a token may have another name for the user than the URL. */
function userIn(cause: unknown): string | null {
  const { message, description } = (cause ?? {}) as { readonly message?: unknown; readonly description?: unknown };
  return /refused for user '([^']*)'/.exec(`${String(message)} ${String(description)}`)?.[1] ?? null;
}

export function missing(what: "queue" | "exchange", name: string): Diagnostic {
  return diagnostic("RD805", {
    path: name,
    message: `there is no ${what} ${name} in this virtual host`,
    notes: ["what is declared was not deployed here, or was deployed under another name"],
    help: "deploy the system before its consumers, or correct the virtual host in the URL",
  });
}
