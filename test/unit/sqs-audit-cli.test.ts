import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { closedPort, serveUntilEnd } from "../support/fake-broker.ts";
import { inFolderOfItsOwn, runCommand, runSeparately, type Said } from "../support/run-command.ts";
import { arnOf, queue, redriveTo } from "../support/sqs-listing.ts";

const folder = inFolderOfItsOwn("sqs-audit");

const credentials = {
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "hunter2",
  AWS_EC2_METADATA_DISABLED: "true",
  SQS_ENDPOINT: undefined,
};

async function audit(words: readonly string[], environment = {}): Promise<Said> {
  const ended = await runCommand(["audit", ...words], { ...credentials, ...environment });
  expect(`${ended.out}${ended.error}`).not.toContain("hunter2");
  return ended;
}

function file(name: string, data: unknown): string {
  writeFileSync(join(folder, name), typeof data === "string" ? data : JSON.stringify(data));
  return name;
}

const sound = file("sound.json", [queue("orders", redriveTo("dead")), queue("dead")]);
const flawed = file("flawed.json", [queue("orders", redriveTo("nowhere"))]);
const resource = (type: string, outputs: object): object => ({
  type,
  urn: `urn:pulumi:a::b::${type}::orders`,
  outputs,
});
const both = file("both.json", {
  version: 3,
  deployment: {
    resources: [
      resource("rabbitmq:index/queue:Queue", { name: "orders", settings: { durable: true } }),
      resource("aws:sqs/queue:Queue", { arn: arnOf("orders"), url: "u" }),
    ],
  },
});

describe("a listing of AWS", () => {
  test("text, JSON, SARIF and GitHub's annotations have the same findings, and the exit code shows if there is an error", async () => {
    const text = await audit(["--sqs", flawed]);
    expect([text.code, text.error]).toEqual([1, ""]);
    expect(text.out).toContain("error[RD411]: orders has the dead-letter queue nowhere, which does not exist");
    expect(text.out).toContain("looked at  1 queue in 1 region, by the rules of Amazon SQS");
    const json = await audit(["--sqs", flawed, "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      audits: [{ target: "Amazon SQS", upgradeTo: null, queues: 1, namespaces: 1, errors: 1, warnings: 0 }],
      diagnostics: [{ code: "RD411", path: "regions.eu-west-1.queues.orders" }],
    });
    const sarif = await audit(["--sqs", flawed, "--format", "sarif"]);
    expect([JSON.parse(sarif.out), sarif.code]).toMatchObject([{ version: "2.1.0" }, 1]);
    expect(sarif.out).toContain('"RD411"');
    const github = await audit(["--sqs", flawed, "--format", "github"]);
    expect(github.out).toContain("::error file=flawed.json,line=1");
    const good = await audit(["--sqs", sound]);
    expect([good.code, good.out.includes("0 errors, 0 warnings")]).toEqual([0, true]);
  });

  test.each([
    [["--sqs", "missing.json"], "RD001"],
    [["--sqs", file("cut.json", "[{")], "RD002"],
    [["--sqs", file("stream.json", '{"Attributes":{}}\n{"Attributes":{}}')], "RD002"],
    [["--sqs", file("empty.json", [])], "RD401"],
    [["--sqs", file("bad.json", [queue("a", { RedrivePolicy: "no" })])], "RD402"],
  ])("%j cannot be read: one diagnostic, exit code 2", async (words, diagnosticCode) => {
    const { code, out, error } = await audit(words);
    expect([code, out, error.match(/(?:error|warning)\[RD\d{3}\]/g)]).toEqual([2, "", [`error[${diagnosticCode}]`]]);
  });

  test.each([
    [["--sqs", sound, "--definitions", sound], "given: 2"],
    [["--sqs", sound, "--target", "rabbitmq@4.3"], "the input has nothing of that broker"],
    [["--sqs", sound, "--as-version", "4.3"], "the input has nothing of that broker"],
  ])("%j is wrong usage", async (words, told) => {
    const { code, error } = await audit(words);
    expect([code, error.includes(told)]).toEqual([2, true]);
  });
});

test("in a stack with queues of both brokers, each is judged by its own rules", async () => {
  const { code, out } = await audit(["--stack", both, "--target", "rabbitmq@4.3"]);
  expect(code).toBe(0);
  expect(out).toContain("by the rules of rabbitmq@4.3");
  expect(out).toContain("by the rules of Amazon SQS");
  const json = JSON.parse((await audit(["--stack", both, "--target", "rabbitmq@4.3", "--json"])).out) as object;
  expect(json).toMatchObject({ ok: true, audits: [{ target: "rabbitmq@4.3" }, { target: "Amazon SQS" }] });
  expect((await audit(["--stack", both])).error).toContain("name it with --target");
});

describe("an account that is read with restrictions", () => {
  const live = async (endpoint: string, environment = {}): Promise<Said> =>
    audit(["--url", "sqs:eu-west-1", "--endpoint", endpoint], environment);

  /** Answers every request in this way. */
  async function answering(status: number, type: string): Promise<string> {
    const server = createServer((_, response) => {
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify({ __type: `com.amazonaws.sqs#${type}`, message: "hunter2" }));
    });
    return `http://127.0.0.1:${await serveUntilEnd(server)}`;
  }

  test("the audit reads all pages with read-only requests, and leaves out forbidden topics and functions", async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (data: Buffer) => (body += data.toString()));
      request.on("end", () => {
        const action = String(request.headers["x-amz-target"] ?? body.match(/Action=\w+/)?.[0] ?? request.url);
        requests.push(action);
        const [status, answer] = answerTo(action, body);
        response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
        response.end(JSON.stringify(answer));
      });
    });
    const { code, out } = await live(`http://127.0.0.1:${await serveUntilEnd(server)}`);
    expect([code, out.match(/\[RD\d{3}\]/g)]).toEqual([1, ["[RD409]", "[RD409]", "[RD409]", "[RD411]", "[RD411]"]]);
    expect(out).toContain("sns:ListSubscriptions");
    expect(out).toContain("queues are left out, since their attributes may not be read: denied");
    expect(out).toContain("looked at  3 queues in 1 region");
    const kinds = [...new Set(requests.map((each) => each.replace(/^.*(?:[.=]|\/(?=event))|\/$/g, "")))].toSorted();
    expect(kinds).toEqual(["GetQueueAttributes", "ListQueues", "ListSubscriptions", "event-source-mappings"]);
    expect(requests.filter((each) => each.endsWith("ListQueues"))).toHaveLength(2);
  });

  /**
   * Two pages of queues. One queue is deleted before the audit reads it, and one refuses its attributes. Any other
   * request fails.
   */
  function answerTo(action: string, body: string): readonly [number, object] {
    const { QueueUrl: url = "", NextToken: next } = body.startsWith("{")
      ? (JSON.parse(body) as Record<string, string>)
      : {};
    if (action.endsWith("ListQueues")) {
      const page = next === undefined ? ["orders", "deleted"] : ["other", "denied", "safe"];
      const QueueUrls = page.map((name) => `http://127.0.0.1/${name}`);
      return [200, { QueueUrls, ...(next === undefined ? { NextToken: "2" } : {}) }];
    }
    if (!action.endsWith("GetQueueAttributes")) return [403, { __type: "AccessDeniedException" }];
    if (url.endsWith("denied")) return [403, { __type: "AccessDenied" }];
    // The audit may not read this queue, but the queue exists. So nothing is wrong with it as a dead-letter queue.
    if (url.endsWith("safe")) return [200, queue("safe", redriveTo("denied"))];
    if (url.endsWith("deleted")) return [400, { __type: "com.amazonaws.sqs#QueueDoesNotExist" }];
    return [200, queue(url.split("/").at(-1) ?? "", redriveTo("nowhere"))];
  }

  test("an unknown region is refused before any request", async () => {
    const { code, error } = await audit(["--url", "sqs:eu-west-9"]);
    expect([code, error.includes("RD201")]).toEqual([2, true]);
  });

  test("an endpoint that is not a URL, and one without a server", async () => {
    expect((await live("nowhere")).error).toContain("RD407");
    const { code, error } = await live(`http://127.0.0.1:${await closedPort()}`);
    expect([code, error.includes("connection refused")]).toEqual([2, true]);
  });

  test.each([
    [403, "AccessDeniedException", "RD408", "sqs:ListQueues"],
    [403, "InvalidClientTokenId", "RD408", "get-caller-identity"],
    [400, "ExpiredTokenException", "RD408", "get-caller-identity"],
    [404, "NotFound", "RD407", "does not answer as SQS does"],
  ])("it answers %i %s", async (status, type, diagnosticCode, told) => {
    const { code, error } = await live(await answering(status, type));
    expect([code, error.match(/error\[RD\d{3}\]/g)]).toEqual([2, [`error[${diagnosticCode}]`]]);
    expect(error).toContain(told);
  });

  test("without credentials the refusal names their sources", async () => {
    const none = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_PROFILE: "", HOME: folder };
    const { code, error } = await live(await answering(200, "None"), none);
    expect([code, error.includes("no credentials for AWS are found"), error.includes("AWS_PROFILE")]).toEqual([
      2,
      true,
      true,
    ]);
  });

  test("without the packages the refusal is one line with the command to install them", async () => {
    const hook = [
      'import { registerHooks } from "node:module";',
      "registerHooks({ resolve(name, context, next) {",
      '  if (name.startsWith("@aws-sdk/")) throw Object.assign(new Error("missing"), { code: "ERR_MODULE_NOT_FOUND" });',
      "  return next(name, context);",
      "} });",
    ].join("\n");
    const options = `--import data:text/javascript,${encodeURIComponent(hook)}`;
    const { code, error } = await runSeparately(["audit", "--url", "sqs:eu-west-1"], { NODE_OPTIONS: options });
    expect(code).toBe(2);
    expect(error).toContain("fix  npm install @aws-sdk/client-sqs @aws-sdk/client-sns @aws-sdk/client-lambda");
    // A file needs none of the packages.
    expect((await runSeparately(["audit", "--sqs", sound], { NODE_OPTIONS: options })).code).toBe(0);
  });
});
