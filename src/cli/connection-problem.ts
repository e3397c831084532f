/** The code of the error at the bottom, in plain words. Its message is not passed on. */
export function connectionProblem(cause: unknown): string {
  if (isBlocked(cause)) return "the port is one of those that web clients never connect to (Fetch Standard, bad ports)";
  const code = codeOf(cause);
  switch (code) {
    case "ECONNREFUSED":
      return "nothing listens there (connection refused)";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the name of the host is not known";
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return "there is no way to the host";
    case "ETIMEDOUT":
    case "UND_ERR_CONNECT_TIMEOUT":
      return "the host does not take the connection in time";
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return "the connection was cut; a port for https does that to http";
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
    case "EPROTO":
      return "the port does not speak TLS: write http:, or name the port for https";
    case "CERT_HAS_EXPIRED":
      return "its certificate has expired";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return "its certificate is for another host";
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return "its certificate is not trusted; NODE_EXTRA_CA_CERTS names a file with the authority's own";
    default:
      return /^HPE_|^HTTPParserError$/.test(code) ? "what answers does not speak HTTP" : `the request failed (${code})`;
  }
}

/** fetch has no code for it. Source: undici, `lib/web/fetch/index.js`, `mainFetch`. */
function isBlocked(cause: unknown): boolean {
  return cause instanceof Error && cause.cause instanceof Error && cause.cause.message === "bad port";
}

/** The first code on the way down; where there is none, the name of the error at the bottom. */
function codeOf(cause: unknown): string {
  let name = "unknown";
  for (let error = cause; error instanceof Error; error = error.cause) {
    const code = "code" in error ? error.code : undefined;
    if (typeof code === "string" && /^[A-Z0-9_]+$/.test(code)) return code;
    if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
    name = error.name;
  }
  return name;
}
