import { type Diagnostic, diagnosed } from "../diagnostics/diagnostic.ts";
import { readTlsFiles } from "../tls/read-tls-files.ts";

/** Files in PEM, for an endpoint of `https:`. A path starts at the folder of the program, for the provider as well. */
export interface StackCertificates {
  /** The authority that signed the broker's certificate. */
  readonly cacertFile?: string;
  /** The certificate to show if the management API asks for one, and its unencrypted key. */
  readonly clientcertFile?: string;
  readonly clientkeyFile?: string;
}

const keys = { ca: "cacertFile", cert: "clientcertFile", key: "clientkeyFile" } as const;

/**
 * Checks the files of a stack before any resource is requested. The provider would report a missing file, or an error
 * of TLS, only after the first resources.
 */
export function checkStackTls(
  namespace: string,
  { cacertFile, clientcertFile, clientkeyFile, endpoint }: StackCertificates & { readonly endpoint?: string },
): Diagnostic[] {
  const files = { ca: cacertFile, cert: clientcertFile, key: clientkeyFile };
  const first = (["ca", "cert", "key"] as const).find((part) => files[part] !== undefined);
  if (first === undefined) return [];
  const refuse = (key: string, message: string, help: string): Diagnostic[] =>
    diagnosed("RD301", { path: `config:${namespace}:${key}`, message: `${key} ${message}`, help });
  if (endpoint?.startsWith("https:") !== true)
    return refuse(
      keys[first],
      "is given, but the endpoint does not begin with https:",
      "write an endpoint that begins with https:",
    );
  const read = readTlsFiles(files);
  if (!("problem" in read)) return [];
  const { part, message } = read.problem;
  return part === "passphrase"
    ? refuse(keys.key, "is encrypted, and Pulumi's provider takes no passphrase", "name a key that is not encrypted")
    : refuse(keys[part], message, "name a file in PEM, by its path from the folder of the program");
}
