import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key, as files. */
interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** An authority of the tests' own, and the certificates that it has signed. */
export interface Certificates {
  /** Files in PEM. */
  readonly ca: string;
  /** For localhost. */
  readonly server: Pair;
  /** For the user of this name. */
  readonly client: Pair & { readonly user: string };
  /** The key of the client, encrypted. */
  readonly lockedKey: string;
  readonly passphrase: string;
  /** Of another authority, for the same name. */
  readonly stranger: Pair;
  readonly textOf: (file: string) => string;
  readonly write: (name: string, text: string) => string;
  readonly remove: () => void;
}

/** Node can use certificates and sign none. */
export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

/** @param user the name in the client's certificate */
export function makeCertificates(user: string): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "redeliver-certificates-"));
  const at = (name: string): string => join(folder, name);
  const openssl = (...words: readonly string[]): void =>
    void execFileSync("openssl", words, { stdio: ["ignore", "ignore", "pipe"] });
  const make = (name: string, subject: string, words: readonly string[]): Pair => {
    const pair = { cert: at(`${name}.pem`), key: at(`${name}.key`) };
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", pair.key];
    openssl("req", "-x509", ...key, "-out", pair.cert, "-days", "2", "-subj", `/CN=${subject}`, ...words);
    return pair;
  };
  const authority = make("ca", "Test authority", []);
  const other = make("other", "Other authority", []);
  const signedBy = ({ cert, key }: Pair, ...extensions: readonly string[]): readonly string[] => [
    "-CA",
    cert,
    "-CAkey",
    key,
    ...["basicConstraints=critical,CA:FALSE", ...extensions].flatMap((each) => ["-addext", each]),
  ];
  const server = make("server", "localhost", signedBy(authority, "subjectAltName=DNS:localhost"));
  const client = make("client", user, signedBy(authority));
  const stranger = make("stranger", user, signedBy(other));
  const passphrase = "open sesame";
  const lockedKey = at("locked.key");
  openssl("pkey", "-in", client.key, "-aes-256-cbc", "-passout", `pass:${passphrase}`, "-out", lockedKey);
  return {
    ca: authority.cert,
    server,
    client: { ...client, user },
    lockedKey,
    passphrase,
    stranger,
    textOf: (file) => readFileSync(file, "utf8"),
    write: (name, text) => {
      writeFileSync(at(name), text);
      return at(name);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
