import { createPrivateKey } from "node:crypto";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

import { connectionByAmqp091, connectionByAmqp10 } from "../../src/brokers/rabbitmq/run/connection.ts";
import { fetchWith } from "../../src/tls/secure-fetch.ts";
import { tlsProblemOf } from "../../src/tls/tls-options.ts";
import { serveUntilEnd } from "../support/fake-broker.ts";
import { selfSigned } from "../support/self-signed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const own = selfSigned("localhost");
const other = selfSigned("localhost");
const passphrase = "open sesame";
const locked = createPrivateKey(own.key).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase });
const lockedKey = String(locked);

test.for<[string, Parameters<typeof tlsProblemOf>[0], string | null]>([
  ["nothing", {}, null],
  ["an authority alone", { ca: own.certificate }, null],
  ["two authorities", { ca: `${own.certificate}\n${other.certificate}` }, null],
  ["a certificate and its key", { cert: own.certificate, key: own.key }, null],
  ["a chain, of which the first is one's own", { cert: own.certificate + other.certificate, key: own.key }, null],
  ["an encrypted key and its passphrase", { cert: own.certificate, key: lockedKey, passphrase }, null],
  ["an authority that is none", { ca: "no PEM" }, "ca"],
  ["an authority whose second half is cut off", { ca: own.certificate + other.certificate.slice(0, 200) }, "ca"],
  ["a certificate with other bytes in it", { ca: own.certificate.replace(/\n.{40}/, "\n") }, "ca"],
  ["a key in place of a certificate", { cert: own.key, key: own.key }, "cert"],
  ["a certificate in place of a key", { cert: own.certificate, key: own.certificate }, "key"],
  ["no key", { cert: own.certificate }, "key"],
  ["no certificate", { key: own.key }, "cert"],
  ["a passphrase for nothing", { passphrase }, "key"],
  ["the key of another certificate", { cert: own.certificate, key: other.key }, "key"],
  ["an encrypted key alone", { cert: own.certificate, key: lockedKey }, "passphrase"],
  ["another passphrase", { cert: own.certificate, key: lockedKey, passphrase: "mellon" }, "passphrase"],
])("certificates and keys are checked before any connection: %s", ([, given, part]) => {
  const problem = tlsProblemOf(given);
  expect(problem?.part ?? null).toBe(part);
  for (const secret of ["mellon", "sesame", "BEGIN"]) expect(problem?.message ?? "").not.toContain(secret);
});

test.for<[string, object, readonly string[]]>([
  ["valid certificates", {}, []],
  ["plain TCP", { url: "amqp://localhost" }, ["tls", "url"]],
  ["plain TCP, and a password", { url: "amqp://localhost", sasl: undefined }, ["tls"]],
  [
    "plain TCP beside a management API with TLS",
    { url: "amqp://localhost", sasl: undefined, managementUrl: "https://localhost" },
    [],
  ],
  ["a user in one of the URLs", { url: ["amqps://localhost", "amqps://guest@localhost"] }, ["url"]],
  ["no certificate", { tls: { ca: own.certificate } }, ["tls"]],
  ["a token, too", { credentials: async () => ({ password: "x" }) }, ["credentials"]],
  ["a management API without a user", { managementUrl: "https://localhost" }, ["managementUrl"]],
  ["a management API with a user", { managementUrl: "https://guest:guest@localhost" }, []],
  ["another mechanism", { sasl: "plain" }, ["sasl"]],
  ["a URL that is none", { url: "localhost" }, ["url"]],
])("a certificate in place of a password: %s", ([, more, paths]) => {
  const tls = { cert: own.certificate, key: own.key };
  for (const schema of [connectionByAmqp091, connectionByAmqp10]) {
    const { error } = schema.safeParse({ url: "amqps://localhost", sasl: "external", tls, ...more });
    expect(error?.issues.map(({ path }) => path[0]) ?? []).toEqual(paths);
  }
});

const folder = temporaryFolder("tls");

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function secureServer(status: number): Promise<number> {
  const server = createServer({ cert: own.certificate, key: own.key }, (_, response) => {
    response.writeHead(status, { location: "https://127.0.0.1:1/" });
    response.end(status === 204 ? "" : "{}");
  });
  return serveUntilEnd(server, "localhost");
}

test.each([200, 204, 301, 401, 999])("a request with an own authority is answered: %i", async (status) => {
  const get = fetchWith({ ca: own.certificate });
  const url = `https://localhost:${await secureServer(status)}/`;
  const asking = get(url, { headers: {}, redirect: "manual", signal: AbortSignal.timeout(20_000) });
  // No status is above 599. A server that answers with one only ends its request.
  if (status > 599) await expect(asking).rejects.toThrow(RangeError);
  else expect((await asking).status).toBe(status);
});

test("a request ends with its signal, even in the middle of an answer", async () => {
  const server = createServer({ cert: own.certificate, key: own.key }, (_, response) => void response.write("["));
  const controller = new AbortController();
  const url = `https://localhost:${await serveUntilEnd(server, "localhost")}/`;
  const options = { headers: {}, redirect: "manual", signal: controller.signal } as const;
  const response = await fetchWith({ ca: own.certificate })(url, options);
  controller.abort();
  await expect(response.text()).rejects.toThrow();
});

async function audit(
  words: readonly string[],
  secret?: string,
): Promise<{ readonly code: number; readonly said: string }> {
  const program = resolve(import.meta.dirname, "../../src/cli/main.ts");
  const env = { ...process.env, ...(secret === undefined ? {} : { RABBITMQ_KEY_PASSPHRASE: secret }) };
  return promisify(execFile)(process.execPath, [program, "audit", ...words], { env }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    ({ code, stdout, stderr }: Record<"stdout" | "stderr", string> & { code: number }) => ({
      code,
      said: stdout + stderr,
    }),
  );
}

test("the command line accepts an authority, and reads the answer", async () => {
  const port = await secureServer(200);
  const url = ["--url", `https://guest:guest@localhost:${port}`];
  expect((await audit(url)).said).toContain("with --ca or NODE_EXTRA_CA_CERTS");
  const { code, said } = await audit([...url, "--ca", file("ca.pem", own.certificate)]);
  expect([code, said]).toEqual([2, expect.stringContaining("answers, but not as the management API of a broker does")]);
});

test.each([
  ["a file that is not there", () => ["--ca", join(folder, "nowhere.pem")], "--ca names no file that is there"],
  ["a folder", () => ["--ca", folder], "--ca names a folder"],
  ["a certificate without its key", () => ["--cert", file("cert.pem", own.certificate)], "--key is missing"],
  [
    "the key of another certificate",
    () => ["--cert", file("cert.pem", own.certificate), "--key", file("other.key", other.key)],
    "--key does not belong to the certificate",
  ],
  [
    "an encrypted key without its passphrase",
    () => ["--cert", file("cert.pem", own.certificate), "--key", file("locked.key", lockedKey)],
    "set RABBITMQ_KEY_PASSPHRASE",
  ],
])("the command line reports the mistake in %s once, and sends no request", async (_, words, said) => {
  const outcome = await audit(["--url", "https://guest:hidden@localhost:1", ...words()]);
  expect(outcome).toEqual({ code: 2, said: expect.stringContaining(said) });
  expect(outcome.said.match(/error\[RD\d+\]/g)).toEqual(["error[RD407]"]);
  expect(outcome.said).not.toContain("hidden");
});

test("certificates are only for https", async () => {
  const outcome = await audit(["--url", "http://localhost:1", "--ca", file("ca.pem", own.certificate)]);
  expect(outcome).toEqual({ code: 2, said: expect.stringContaining("the URL does not begin with https:") });
});

test("certificates are only for a running broker", async () => {
  const outcome = await audit(["--definitions", file("none.json", "{}"), "--ca", file("ca.pem", own.certificate)]);
  expect(outcome).toEqual({ code: 2, said: expect.stringContaining("'--ca <file>' cannot be used with option") });
});
