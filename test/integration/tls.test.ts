import { execFile } from "node:child_process";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ConsumeOptions } from "redeliver/consume";

import type { BrokerVersion } from "../support/broker-images.ts";
import type { StartedBroker } from "../support/broker-containers.ts";
import { type Certificates, hasOpenssl, makeCertificates } from "../support/certificates.ts";
import { billingUnder } from "../support/consume/billing-under.ts";
import { consumeFrom } from "../support/consume/consumed.ts";
import { type Start, start } from "../support/consume/start.ts";
import { deploy, type DeployedSystem, until } from "../support/deployed-system.ts";
import { startTlsBroker } from "../support/consume/tls-broker.ts";
import { createVhost } from "../support/live.ts";
import { type JsonObject, createManagement } from "../support/management.ts";
import { createCliStack, hasPulumiCli } from "../support/pulumi-cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The user that the client's certificate names. */
const user = "billing-service";
const inContainer = (name: string): string => `/etc/rabbitmq/${name}.pem`;

/** Clients must use TLS with a certificate here. The plain ports serve the preparation of the tests. */
const configuration = ["listeners.ssl.default = 5671", "management.ssl.port = 15671", "auth_mechanisms.1 = PLAIN"]
  .concat(
    ["auth_mechanisms.2 = AMQPLAIN", "auth_mechanisms.3 = EXTERNAL", "ssl_cert_login_from = common_name"],
    ["management.tcp.port = 15672"],
    ["ssl_options", "management.ssl"].flatMap((section) => [
      `${section}.cacertfile = ${inContainer("ca")}`,
      `${section}.certfile = ${inContainer("server")}`,
      `${section}.keyfile = ${inContainer("server-key")}`,
      `${section}.verify = verify_peer`,
      `${section}.fail_if_no_peer_cert = true`,
    ]),
  )
  .join("\n")
  .concat("\n");

async function startWithTls(version: BrokerVersion, { ca, server, textOf }: Certificates): Promise<StartedBroker> {
  // Loaded late, because testcontainers takes a quarter of a second, and tests with a broker from the environment do
  // not need it.
  const { startBroker } = await import("../support/broker-containers.ts");
  const files = { ca, server: server.cert, "server-key": server.key };
  const copies = Object.entries(files).map(([name, file]) => [inContainer(name), textOf(file)]);
  const plugins = ["rabbitmq_auth_mechanism_ssl"];
  return startBroker(version, undefined, { configuration, plugins, files: Object.fromEntries(copies) });
}

const cases = [
  { version: "4.3", strategies: ["staged", "deferred"] },
  { version: "3.10", strategies: ["waits"] },
] as const;

describe.runIf(hasOpenssl && process.env["RABBITMQ_URL"] === undefined).each(cases)(
  "own certificates, RabbitMQ $version",
  ({ version, strategies }) => {
    let certificates: Certificates;
    let started: StartedBroker;
    beforeAll(async () => {
      certificates = makeCertificates(user);
      started = await startWithTls(version, certificates);
      const management = createManagement(started.broker.managementUrl);
      await management.put(`users/${user}`, { password_hash: "", tags: "" });
    });
    afterAll(async () => {
      await started?.stop();
      certificates?.remove();
    });

    describe.each(strategies)("a consumer by %s", (strategy) => {
      const declaration = billingUnder(strategy);
      let system: DeployedSystem;
      beforeAll(async () => {
        system = await deploy(started.broker, declaration, strategy);
        const rights = { configure: "^$", write: "^shop\\.|^amq\\.default$", read: "^shop\\.billing$" };
        const path = `permissions/${encodeURIComponent(system.vhost)}/${user}`;
        await createManagement(started.broker.managementUrl).put(path, rights);
      });
      afterAll(() => system?.dispose());

      type Connection = ConsumeOptions<"rabbitmq">["connection"];
      const urlOf = (credentials = ""): string =>
        `amqps://${credentials}localhost:${started.tlsPorts.amqp}/${encodeURIComponent(system.vhost)}`;
      const managementUrl = (): string => `https://guest:guest@localhost:${started.tlsPorts.management}`;
      const tls = (): NonNullable<Connection["tls"]> => {
        const { ca, client, lockedKey, passphrase, textOf } = certificates;
        return { ca: textOf(ca), cert: textOf(client.cert), key: textOf(lockedKey), passphrase };
      };
      const begin = async (connection: Connection): Promise<Start> => start(system, { connection });

      test.each([
        [
          "a user and a password",
          (): Connection => ({ url: urlOf("guest:guest@"), tls: tls(), managementUrl: managementUrl() }),
        ],
        [
          "SASL EXTERNAL",
          (): Connection => ({ url: urlOf(), tls: tls(), sasl: "external", managementUrl: managementUrl() }),
        ],
      ])("works with an encrypted key and %s, and reads the management API by the same", async (sasl, connection) => {
        const { running, runs, events } = await consumeFrom(
          { ...system, options: { connection: connection() } },
          ({ attempt }) => {
            if (attempt === 1) throw new Error("not yet");
          },
        );
        await system.publish(["one"], { exchange: "shop.orders", routingKey: "order.placed" });
        await until(60_000, () => runs.length === 2);
        const management = createManagement(started.broker.managementUrl);
        const expected = sasl === "SASL EXTERNAL" ? user : "guest";
        // The list of connections comes with statistics.
        await until(60_000, async () => {
          const all = await management.get<readonly { user: string; vhost: string; ssl?: boolean }[]>("connections");
          return all.some((each) => each.vhost === system.vhost && each.user === expected && each.ssl === true);
        });
        await running.stop();
        expect(events.filter(({ kind }) => kind === "not-compared")).toEqual([]);
      });

      test("a mismatch is reported at the start, with the setting to check", async () => {
        const { stranger, textOf } = certificates;
        const { ca = "", cert = "", key = "" } = tls();
        const url = urlOf("guest:guest@");
        const own = { ...tls(), cert: textOf(stranger.cert), key: textOf(stranger.key) };
        const outcomes = {
          "no authority": await begin({ url, tls: { ...tls(), ca: undefined } }),
          "no certificate": await begin({ url, tls: { ca } }),
          "a certificate of others": await begin({ url, tls: { ...own, passphrase: undefined } }),
          "another key": await begin({ url, tls: { ca, cert, key: textOf(stranger.key) } }),
          "no passphrase": await begin({ url, tls: { ca, cert, key } }),
          "a wrong passphrase": await begin({ url, tls: { ca, cert, key, passphrase: "mellon" } }),
        };
        for (const [name, { codes, text }] of Object.entries(outcomes)) {
          const isOption = /key|passphrase/.test(name);
          expect([name, codes]).toEqual([name, [isOption ? "RD802" : "RD804"]]);
          expect(text, name).toContain(isOption ? "tls." : "check the certificates");
          for (const secret of [key.slice(40, 80), "mellon", "sesame"]) expect(text).not.toContain(secret);
        }
      });

      test("SASL EXTERNAL: the broker does not know the user", async () => {
        const { server, textOf } = certificates;
        const { ca } = tls();
        const other = { ca, cert: textOf(server.cert), key: textOf(server.key) };
        const { codes, text } = await begin({ url: urlOf(), tls: other, sasl: "external" });
        expect(codes).toEqual(["RD807"]);
        expect(text).toContain("knows no user by the name in the certificate");
      });

      test("SASL EXTERNAL: the broker does not offer it", async () => {
        // TLS ends before the broker, so the broker sees no certificate.
        const front = await startTlsBroker(system.url, false);
        onTestFinished(front.close);
        const url = front.url.replace(/\/\/[^@]*@/, "//");
        const { codes, text } = await begin({ url, tls: { ...tls(), ca: front.ca }, sasl: "external" });
        expect(codes).toEqual(["RD807"]);
        expect(text).toContain("takes no certificate in place of a password");
      });
    });

    // The provider's part. component/stack-config.test.ts tests the part that the program passes to it.
    test.runIf(hasPulumiCli)(
      "a stack deploys over TLS, with files whose paths start at the program's folder",
      async () => {
        const { vhost, dispose } = await createVhost(started.broker);
        onTestFinished(dispose);
        const { ca, client } = certificates;
        const program = resolve(import.meta.dirname, "../../stacks");
        const named = { cacertFile: ca, clientcertFile: client.cert, clientkeyFile: client.key };
        const { stack, remove } = await createCliStack(started.broker, vhost, {
          "redeliver:endpoint": `https://localhost:${started.tlsPorts.management}`,
          ...Object.fromEntries(
            Object.entries(named).map(([key, file]) => [`redeliver:${key}`, relative(program, file)]),
          ),
        });
        onTestFinished(remove);
        await stack.up();
        await stack.refresh({ expectNoChanges: true });
      },
    );

    test("adopt prints a redrive with the same certificates, and it works", async () => {
      const { vhost, dispose } = await createVhost(started.broker);
      onTestFinished(dispose);
      const { ca, client, lockedKey, passphrase } = certificates;
      const queue = (name: string, given: object): object => {
        return { name, vhost, durable: true, auto_delete: false, arguments: given };
      };
      const dying = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work.dead" };
      const queues = [queue("work", dying), queue("work.dead", {})];
      await createManagement(started.broker.managementUrl).importDefinitions({ queues } as JsonObject);
      const run = async (words: readonly string[]): Promise<string> => {
        const env = { ...process.env, RABBITMQ_PASSWORD: "guest", RABBITMQ_KEY_PASSPHRASE: passphrase };
        const program = resolve(import.meta.dirname, "../../src/cli/main.ts");
        const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...words], { env });
        return stdout + stderr;
      };
      const url = `https://guest@localhost:${started.tlsPorts.management}/${encodeURIComponent(vhost)}`;
      const output = join(temporaryFolder("tls-adopt", onTestFinished), "adopted.yaml");
      const files = ["--ca", ca, "--cert", client.cert, "--key", lockedKey];
      const said = await run(["adopt", "--url", url, ...files, "--output", output]);
      const [, redrive = ""] = /^ *npx redeliver (dead redrive .*)$/m.exec(said) ?? expect.unreachable(said);
      const words = redrive.replace("AMQP_PORT", String(started.tlsPorts.amqp)).split(" ");
      expect(await run(words)).toContain("there is no letter to send");
    });

    test.each(["audit", "leftovers"])(
      "%s reads over TLS with files, and names a file that does not fit",
      async (command) => {
        const { ca, client, lockedKey, passphrase, stranger } = certificates;
        const shop = resolve(import.meta.dirname, "../../examples/shop.yaml");
        const asked = command === "audit" ? [] : [shop, "--target", `rabbitmq@${version}`];
        const run = async (words: readonly string[], secret = passphrase) => {
          const program = resolve(import.meta.dirname, "../../src/cli/main.ts");
          const url = `https://guest:guest@localhost:${started.tlsPorts.management}`;
          const env = { ...process.env, RABBITMQ_KEY_PASSPHRASE: secret };
          const all = [program, command, ...asked, ...(words.includes("--url") ? [] : ["--url", url]), ...words];
          return promisify(execFile)(process.execPath, all, { env }).then(
            ({ stdout }) => ({ code: 0, text: stdout }),
            (error: { code: number; stdout: string; stderr: string }) => ({
              code: error.code,
              text: error.stdout + error.stderr,
            }),
          );
        };
        const own = ["--ca", ca, "--cert", client.cert, "--key", lockedKey];
        expect((await run(own)).text).not.toContain("RD407");
        const byCertificateAlone = await run([...own, "--url", `https://localhost:${started.tlsPorts.management}`]);
        expect([byCertificateAlone.code, byCertificateAlone.text]).toEqual([2, expect.stringContaining("RD408")]);
        const refusals: readonly [readonly string[], string, string?][] = [
          [own.slice(2), "name a file with the authority's certificate with --ca"],
          [own.slice(0, 2), "name one with --cert"],
          [["--ca", ca, "--cert", stranger.cert, "--key", stranger.key], "refuses the client's certificate"],
          [["--ca", ca, "--cert", client.cert, "--key", stranger.key], "--key does not belong to the certificate"],
          [own, "the passphrase does not open the private key", "wrong"],
        ];
        for (const [words, said, secret] of refusals) {
          const { code, text } = await run(words, secret);
          expect([code, text]).toEqual([2, expect.stringContaining(said)]);
          expect(text.match(/error\[RD\d+\]/g)).toEqual(["error[RD407]"]);
        }
      },
    );
  },
);
