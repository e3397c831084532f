import { type KeyObject, createPrivateKey, X509Certificate } from "node:crypto";

/** The settings for TLS beside the machine's own, as texts in PEM. */
export interface TlsOptions {
  /** The authorities that may have signed the other side's certificate. They replace those that Node knows. */
  readonly ca?: string | undefined;
  /** The own certificate, with the chain behind it. */
  readonly cert?: string | undefined;
  /** The private key of the certificate. */
  readonly key?: string | undefined;
  /** The passphrase of an encrypted key. */
  readonly passphrase?: string | undefined;
}

/** An unusable part, and the reason: half a sentence after its name. It repeats no part of the input. */
export interface TlsProblem {
  readonly part: keyof TlsOptions;
  readonly message: string;
}

/** Checks certificates and keys before any connection, because TLS's own errors do not name the faulty one. */
export function tlsProblemOf({ ca, cert, key, passphrase }: TlsOptions): TlsProblem | null {
  const unreadable = "holds no certificate in PEM that can be read";
  if (ca !== undefined && certificateIn(ca) === null) return { part: "ca", message: unreadable };
  const own = cert === undefined ? null : certificateIn(cert);
  if (cert !== undefined && own === null) return { part: "cert", message: unreadable };
  if (key === undefined) {
    if (own !== null) return { part: "key", message: "is missing: a certificate is of no use without its private key" };
    return passphrase === undefined ? null : { part: "key", message: "is missing: there is nothing to open" };
  }
  const opened = openKey(key, passphrase);
  if ("part" in opened) return opened;
  if (own === null) return { part: "cert", message: "is missing: a private key is of no use without its certificate" };
  return own.checkPrivateKey(opened) ? null : { part: "key", message: "does not belong to the certificate" };
}

/**
 * The first certificate of a text, which is the own one if others follow; null if one of them is unreadable or cut off.
 */
function certificateIn(pem: string): X509Certificate | null {
  const [, ...parts] = pem.split("-----BEGIN CERTIFICATE-----");
  try {
    const [first] = parts.map((part) => new X509Certificate(`-----BEGIN CERTIFICATE-----${part}`));
    return first ?? null;
  } catch {
    return null;
  }
}

function openKey(key: string, passphrase: string | undefined): KeyObject | TlsProblem {
  try {
    return createPrivateKey({ key, format: "pem", ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    if (!/ENCRYPTED/.test(key)) return { part: "key", message: "holds no private key in PEM that can be read" };
    return passphrase === undefined
      ? { part: "passphrase", message: "is missing, and the private key is encrypted" }
      : { part: "passphrase", message: "does not open the private key" };
  }
}
