const sentences: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^ECONNREFUSED$/, "no program listens there (connection refused)"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "the name of the host is unknown"],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, "there is no way to the host"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "the host does not accept the connection in time"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "the connection was cut; a port for https does that to http"],
  [
    /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    "the port does not speak TLS: write http:, or name the port for https",
  ],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "its certificate is for another host"],
  [
    /^((DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|CERT_SIGNATURE_FAILURE)$/,
    "its certificate is not trusted; name a file with the authority's certificate with --ca or NODE_EXTRA_CA_CERTS",
  ],
  [
    /^ERR_SSL_(TLSV13_ALERT_CERTIFICATE_REQUIRED|SSLV3_ALERT_HANDSHAKE_FAILURE)$/,
    "it requires a client certificate: name one with --cert, and its key with --key",
  ],
  [
    /^ERR_SSL_(TLSV1_ALERT_UNKNOWN_CA|SSLV3_ALERT_(BAD_CERTIFICATE|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN))$/,
    "it refuses the client's certificate: it has expired, or is from another authority",
  ],
  [/^HPE_|^HTTPParserError$/, "the program that answers does not speak HTTP"],
];

/** Describes the innermost error by its code. Its message is not passed on. */
export function connectionProblem(cause: unknown): string {
  if (isBlocked(cause)) return "web clients never connect to this port (Fetch Standard, bad ports)";
  const code = codeOf(cause);
  return sentences.find(([codes]) => codes.test(code))?.[1] ?? `the request failed (${code})`;
}

/** fetch has no code for it. Source: undici, `lib/web/fetch/index.js`, `mainFetch`. */
function isBlocked(cause: unknown): boolean {
  return cause instanceof Error && cause.cause instanceof Error && cause.cause.message === "bad port";
}

/** The first code on the way to the innermost error; without one, the name of that error. */
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
