import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { readLiveBroker } from "../../src/cli/read-live-broker.ts";
import type { FakeBroker } from "../support/fake-broker.ts";
import {
  answersOf,
  closedPort,
  refuseLogin,
  sendJson,
  startFakeBroker,
  serveUntilEnd,
} from "../support/fake-broker.ts";
import { inFolderOfItsOwn, runCommand, runSeparately, type Said } from "../support/run-command.ts";
import { selfSigned } from "../support/self-signed.ts";

const folder = inFolderOfItsOwn("audit");

const audit = async (words: readonly string[], environment = {}): Promise<Said> =>
  runCommand(["audit", ...words], environment);
const auditSeparately = async (words: readonly string[], environment = {}): Promise<Said> =>
  runSeparately(["audit", ...words], environment);

function file(name: string, data: unknown): string {
  writeFileSync(join(folder, name), typeof data === "string" ? data : JSON.stringify(data));
  return name;
}
async function fake(...given: Parameters<typeof startFakeBroker>): Promise<FakeBroker> {
  const started = await startFakeBroker(...given);
  onTestFinished(started.close);
  return started;
}

const good = file("good.json", {
  rabbitmq_version: "4.0.5",
  vhosts: [{ name: "/" }],
  queues: [{ name: "orders", vhost: "/", durable: true, arguments: { "x-queue-type": "quorum" } }],
});
const stack = (...resources: readonly object[]): object => ({ version: 3, deployment: { resources } });
const queue = (name: string, settings = {}): object => ({
  type: "rabbitmq:index/queue:Queue",
  urn: `urn:a::b::c::${name}`,
  outputs: { name, settings },
});
const state = file("state.json", stack(queue("orders", { durable: true })));

describe("wrong usage is exit code 2, with the fix", () => {
  test.each([
    [[], "one of --definitions FILE"],
    [["--definitions", good, "--stack", state], "given: 2"],
    [["--stack", state], "--target"],
    [["--definitions", good, "--target", "rabbitmq@9"], "RD201"],
    [["--definitions", good, "--as-version", "five"], "RD201"],
    [["--definitions", good, "--format", "toml"], "Allowed choices"],
  ])("%j", async (words, told) => {
    const { code, out, error } = await audit(words);
    expect([code, out]).toEqual([2, ""]);
    expect(error).toContain(told);
    expect(error).not.toMatch(/\n\s+at .*:\d+:\d+/);
  });
});

test.each([
  ["--urll=http://auditor:hunter/2@host"],
  ["http://auditor:hunter/2@host"],
  ["--definitions", "http://auditor:hunter/2@host"],
  ["--target", "http://auditor:hunter/2@host", "--definitions", good],
  ["--as-version", "http://auditor:hunter/2@host", "--definitions", good],
])("a URL in the wrong place is not shown with its password: %s", async (...words) => {
  for (const format of ["text", "json", "sarif", "github"]) {
    const { code, out, error } = await audit([...words, "--format", format]);
    expect([code, `${out}${error}`.includes("hunter")]).toEqual([2, false]);
  }
});

describe("unreadable input gives exit code 2, one diagnostic and nothing else", () => {
  test.each([
    ["--definitions", "missing.json", "RD001"],
    ["--definitions", file("cut.json", '{"queues": ['), "RD002"],
    ["--definitions", file("empty.json", ""), "RD004"],
    ["--definitions", file("package.json", { name: "shop" }), "RD401"],
    ["--definitions", file("bad.json", { queues: [{}] }), "RD402"],
    ["--stack", good, "RD401"],
  ])("%s %s: %s", async (option, name, diagnosticCode) => {
    const { code, out, error } = await audit([option, name, "--target", "rabbitmq@4.3"]);
    expect([code, out, error.match(/(?:error|warning)\[RD\d{3}\]/g)]).toEqual([2, "", [`error[${diagnosticCode}]`]]);
    const asJson = await audit([option, name, "--target", "rabbitmq@4.3", "--json"]);
    expect([asJson.code, asJson.error]).toEqual([2, ""]);
    expect(JSON.parse(asJson.out)).toMatchObject({ ok: false, diagnostics: [{ code: diagnosticCode }] });
  });
});

describe("an unreadable resource of a stack is an error, unless the user allows it", () => {
  const types = ["rabbitmq:index/queue:Queue", "aws:sqs/queue:Queue", "azure-native:servicebus:Queue"];
  const unread = { name: "q", settings: { durable: true, argumentsJson: "{" }, arn: "no ARN", queueName: 1 };
  test.each(types)("%s", async (type) => {
    const name = file("unread.json", stack({ type, urn: `urn:a::b::${type}::unread`, outputs: unread }));
    const words = ["--stack", name, ...(type.startsWith("rabbitmq") ? ["--target", "rabbitmq@4.3"] : [])];
    const refused = await audit(words);
    expect(refused.code).toBe(1);
    expect(refused.out).toContain("error[RD410]: left out");
    expect(refused.out).toContain("--allow-unread");
    const allowed = await audit([...words, "--allow-unread"]);
    expect(allowed.code).toBe(0);
    expect(allowed.out).toContain("warning[RD409]: left out");
  });
  test("a resource without a type", async () => {
    const { code, error } = await audit(["--stack", file("untyped.json", { deployment: { resources: [{}] } })]);
    expect([code, error.match(/RD\d{3}/)?.[0]]).toEqual([2, "RD402"]);
  });
});

describe("the output of an audit", () => {
  test("ends with a summary of the audited parts and the evidence", async () => {
    const { out } = await audit(["--definitions", good]);
    expect(out).toContain("looked at  1 queue in 1 virtual host, by the rules of rabbitmq@4.0.5");
    expect(out).toContain("compared with live brokers");
    const made = { type: "redeliver:index:RetryTopology", urn: "urn:a::b::c::s", outputs: { target: "rabbitmq@4.0" } };
    const own = file("own.json", stack(queue("q"), made));
    expect((await audit(["--stack", own])).out).toContain("by the rules of rabbitmq@4.0");
    const other = await audit(["--stack", state, "--target", "rabbitmq@4.1", "--as-version", "4.2"]);
    expect(other.out).toContain("by the rules of rabbitmq@4.1, and of an upgrade to rabbitmq@4.2");
    expect(other.out).toContain("follows the server's source only");
  });

  test("the exit code shows if an error was found", async () => {
    for (const name of [good, file("nothing.json", { rabbitmq_version: "4.3.6", queues: [] })]) {
      const { code, out } = await auditSeparately(["--definitions", name, "--json"]);
      const { ok, audits } = JSON.parse(out) as { ok: boolean; audits: readonly { errors: number }[] };
      expect([code, ok]).toEqual(audits[0]?.errors === 0 ? [0, true] : [1, false]);
    }
  });

  test("JSON, SARIF and GitHub's annotations have the same diagnostics", async () => {
    const twice = file("twice.json", {
      rabbitmq_version: "4.3.6",
      queues: [
        { name: "a", vhost: "/" },
        { name: "a", vhost: "/" },
      ],
    });
    const json = JSON.parse((await audit(["--definitions", twice, "--json"])).out) as {
      diagnostics: { code: string }[];
    };
    expect(json).toMatchObject({ audits: [{ target: "rabbitmq@4.3.6", queues: 1, namespaces: 1 }] });
    expect(json.diagnostics.map(({ code }) => code)).toContain("RD404");
    const sarif = (await audit(["--definitions", twice, "--format", "sarif"])).out;
    expect(JSON.parse(sarif)).toMatchObject({ version: "2.1.0" });
    expect(sarif).toContain('"RD404"');
    expect((await audit(["--definitions", twice, "--format", "github"])).out).toContain(
      "::warning file=twice.json,line=1",
    );
  });

  test("a name cannot control the terminal, in any format", async () => {
    const name = "a\u001b[31m\u009b\u202eb\n::error::c";
    const odd = file("odd.json", { rabbitmq_version: "4.3.6", queues: [{ name, vhost: `/${name}`, type: name }] });
    for (const format of ["text", "json", "sarif", "github"]) {
      const { out, error } = await audit(["--definitions", odd, "--format", format]);
      expect(error, format).toBe("");
      expect(out, format).toContain("RD406");
      // oxlint-disable-next-line no-control-regex
      expect(out, format).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|^::error/m);
    }
    const json = JSON.parse((await audit(["--definitions", odd, "--json"])).out) as {
      diagnostics: { message: string }[];
    };
    expect(json.diagnostics[0]?.message).toContain(JSON.stringify(name));
  });
});

describe("a running broker", () => {
  // Every character that has a meaning in a URL, in a shell or in a terminal.
  const password = "p@ss/w:o?r#d%41 \u001b[31mü";
  const encoded = encodeURIComponent(password);
  const traces = [password, encoded, "w:o", "d%41", "%1B", Buffer.from(`auditor:${password}`).toString("base64")];

  async function refusedBy(url: string, environment: Record<string, string> = {}): Promise<string> {
    const asText = await audit(["--url", url], environment);
    const asJson = await audit(["--url", url, "--json"], environment);
    expect([asText.code, asText.out, asJson.code, asJson.error]).toEqual([2, "", 2, ""]);
    for (const trace of traces) expect(`${asText.error}${asJson.out}`).not.toContain(trace);
    expect(asText.error.match(/(?:error|warning)\[RD\d{3}\]/g)).toHaveLength(1);
    return asText.error;
  }

  test("gets only GET requests, for one virtual host or for all", async () => {
    const { port, requests, credentials } = await fake(answersOf());
    const { code, out } = await auditSeparately(["--url", `http://auditor:${encoded}@127.0.0.1:${port}`]);
    expect([code, out.includes("0 queues in 1 virtual host")]).toEqual([0, true]);
    expect(requests).toHaveLength(8);
    expect(requests.every((each) => each.startsWith("GET /api/"))).toBe(true);
    expect(new Set(credentials)).toEqual(new Set([`auditor:${password}`]));
    await auditSeparately(["--url", `http://127.0.0.1:${port}/a%2Fb`], {
      RABBITMQ_USERNAME: "someone",
      RABBITMQ_PASSWORD: password,
    });
    expect(requests.slice(7)).toContain("GET /api/queues/a%2Fb?disable_stats=true");
    expect(credentials.at(-1)).toBe(`someone:${password}`);
  });

  test("refuses the connection", async () => {
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:${await closedPort()}`)).toContain(
      "connection refused",
    );
  });

  test("has a port that fetch never uses", async () => {
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:6000`)).toContain(
      "web clients never connect to this port",
    );
  });

  test("has an unknown name", async () => {
    expect(await refusedBy(`http://auditor:${encoded}@broker.invalid:15672`)).toContain("RD407");
  });

  test.each([
    [401, refuseLogin, "user name or the password"],
    [401, "Not management user", "set_user_tags"],
    [401, "User not authorised to access virtual host", "set_permissions"],
    [403, "whatever", "user name or the password"],
    [404, "Not Found", "management API"],
    [500, "whatever", "management API"],
    [302, "whatever", "management API"],
  ])("answers %i", async (status, reason, told) => {
    const { port } = await fake(
      typeof reason === "string"
        ? (_, response, { headers }) => sendJson(response, { error: headers.authorization, reason }, status)
        : reason,
    );
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:${port}`)).toContain(told);
  });

  test("does not have the virtual host", async () => {
    const { port } = await fake((path, response) =>
      path.startsWith("/api/overview") ? answersOf()(path, response) : sendJson(response, { reason: "Not Found" }, 404),
    );
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:${port}/shop`)).toContain('no virtual host "shop"');
  });

  test.each([
    ["HTML", "<!doctype html><title>Welcome</title>"],
    ["other JSON", '{"name":"another service"}'],
    ["JSON that is no object", "[]"],
    ["nothing", ""],
  ])("is another program that answers with %s", async (_, body) => {
    const { port } = await fake((_path, response) => response.end(body));
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:${port}`)).toContain("not as the management API");
  });

  test("cuts its answer off", async () => {
    const { port } = await fake((path, response) =>
      path.startsWith("/api/queues") ? response.end('[{"name":') : answersOf()(path, response),
    );
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:${port}`)).toContain("RD407");
  });

  test("does not speak HTTP", async () => {
    const server = createTcpServer((socket) => socket.end("AMQP\u0000\u0000\u0009\u0001"));
    const port = await serveUntilEnd(server);
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:${port}`)).toContain("does not speak HTTP");
  });

  test("has an untrusted certificate", async () => {
    const { certificate, key } = selfSigned("localhost");
    const port = await serveUntilEnd(createServer({ key, cert: certificate }));
    expect(await refusedBy(`https://auditor:${encoded}@localhost:${port}`)).toContain("certificate is not trusted");
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:${port}`)).toContain("RD407");
  });

  test.each([
    `http://auditor:${password}@127.0.0.1:15672`,
    "http://auditor:12/p@ss/w:o@127.0.0.1:15672",
    "http://127.0.0.1:15672/#/queues",
    "http://127.0.0.1:15672/api/queues",
    "http://127.0.0.1:15672/%zz",
    "amqp://auditor@127.0.0.1",
    "not a url",
  ])("has a URL that is refused before any request: %j", async (url) => {
    expect(await refusedBy(url)).toContain("RD407");
  });

  test.each(["before it answers", "in the middle of an answer"])("falls silent %s", async (when) => {
    const { port } = await fake((path, response) => {
      if (when === "before it answers") return;
      if (path.startsWith("/api/queues")) response.write("[");
      else answersOf()(path, response);
    });
    const url = `http://auditor:${encoded}@127.0.0.1:${port}`;
    const read = await readLiveBroker(url, brokers.rabbitmq.auditor.live, {}, { patienceMs: 200 });
    expect(read).toMatchObject({ ok: false, diagnostics: [{ code: "RD407" }] });
    expect(JSON.stringify(read)).toContain("does not answer within 0.2 s");
    for (const trace of traces) expect(JSON.stringify(read)).not.toContain(trace);
  });

  test("hides some virtual hosts: the audit names them, and fails if it sees none", async () => {
    const exchange = { name: "amq.direct", vhost: "/", type: "direct" };
    const vhosts = [{ name: "/" }, { name: "hidden" }];
    const some = await fake(answersOf({ vhosts, exchanges: [exchange] }));
    const { code, out } = await audit(["--url", `http://127.0.0.1:${some.port}`]);
    expect([code, out.includes("RD409"), out.includes("permission there: hidden")]).toEqual([0, true, true]);
    const none = await fake(answersOf({ vhosts, exchanges: [] }));
    expect(await refusedBy(`http://auditor:${encoded}@127.0.0.1:${none.port}`)).toContain("RD408");
  });
});
