import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip } from "node:zlib";
import { describe, expect, test } from "vitest";

import { brokers } from "../../src/brokers/index.ts";
import { readLiveBroker } from "../../src/cli/read-live-broker.ts";
import { requestBudget } from "../../src/foreign/request-budget.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server that gives these answers until the test is over. */
async function serving(answer: Answer, onTestFinished: (end: () => void) => void): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Writes until the reader closes. */
function pour(into: NodeJS.WritableStream, piece: string): void {
  const on = (): void => {
    while (into.writable && into.write(piece));
  };
  into.on("drain", on);
  on();
}

const endlessWith =
  (status: number): Answer =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    pour(response, " ".repeat(65_536));
  };
const endless = endlessWith(200);
const bomb: Answer = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
  const packed = createGzip();
  packed.pipe(response);
  pour(packed, " ".repeat(65_536));
};
const dripping: Answer = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const drip = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(drip));
};
const overview = JSON.stringify({ rabbitmq_version: "4.3.0", management_version: "4.3.0" });
/** A broker that sends its greeting and then other bytes. */
const afterGreeting =
  (answer: Answer): Answer =>
  (request, response) => {
    if (request.url?.startsWith("/api/overview") === true) response.end(overview);
    else answer(request, response);
  };

const mostBytes = 3_000_000;
/** A slow machine may take long to read too many bytes, so only an answer that drips has little time. */
const boundsFor = (says: string) => ({ mostBytes, timeoutMs: says.startsWith("within") ? 1_500 : 25_000 });

describe("RabbitMQ", () => {
  test.for<readonly [name: string, answer: Answer, says: string]>([
    ["an endless greeting", endless, "more than 3,000,000 bytes; raise it with --max-bytes"],
    ["an endless list", afterGreeting(endless), "more than 3,000,000 bytes"],
    ["a list that unpacks without an end", afterGreeting(bomb), "more than 3,000,000 bytes"],
    ["a greeting that drips", dripping, "within 1s 500ms; raise it with --timeout"],
    ["a list that drips", afterGreeting(dripping), "within 1s 500ms"],
    ["an endless refusal", afterGreeting(endlessWith(500)), "bytes"],
  ])("%s is given up", async ([, answer, says], { onTestFinished }) => {
    const url = await serving(answer, onTestFinished);
    const read = await readLiveBroker(url, brokers.rabbitmq.auditor.live, {}, boundsFor(says));
    expect(read).toMatchObject({ ok: false, diagnostics: [{ code: "RD407", message: expect.stringContaining(says) }] });
  });

  test("20,000 queues with 100 MB are read within the default bounds", async ({ onTestFinished }) => {
    const queue = { vhost: "/", durable: true, auto_delete: false, exclusive: false, arguments: {}, type: "classic" };
    const exchange = { ...queue, name: "", type: "direct", internal: false };
    const filler = "x".repeat(5_000);
    const queues = JSON.stringify(
      Array.from({ length: 20_000 }, (_, index) => ({ ...queue, name: `q${index}`, filler })),
    );
    const url = await serving((request, response) => {
      if (request.url?.startsWith("/api/overview") === true) response.end(overview);
      else if (request.url?.startsWith("/api/queues") === true) response.end(queues);
      else if (request.url?.startsWith("/api/exchanges") === true) response.end(JSON.stringify([exchange]));
      else response.end(request.url?.startsWith("/api/vhosts") === true ? '[{"name":"/"}]' : "[]");
    }, onTestFinished);
    const read = await readLiveBroker(url, brokers.rabbitmq.auditor.live, {});
    expect(queues.length).toBeGreaterThan(100_000_000);
    expect(read.ok ? [] : read.diagnostics).toEqual([]);
  });
});

test("reading ends after 10,000 pages of a list", () => {
  const budget = requestBudget({ mostBytes: 1, timeoutMs: 60_000 });
  budget.turn(10_000);
  expect(budget.problem()).toBeNull();
  expect(() => budget.turn(10_001)).toThrow("more than 10,000 pages of one list");
  expect([budget.signal.aborted, budget.problem()]).toEqual([true, "answers with more than 10,000 pages of one list"]);
  budget.end();
});

describe("AWS", () => {
  process.env["AWS_ACCESS_KEY_ID"] ??= "test";
  process.env["AWS_SECRET_ACCESS_KEY"] ??= "test";
  const endlessPages: Answer = (_, response) => {
    const QueueUrls = Array.from({ length: 100 }, (__, index) => `http://127.0.0.1/1/q${index}`);
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ QueueUrls, NextToken: String(Math.random()) }));
  };
  test.for<readonly [name: string, answer: Answer, says: string]>([
    ["an endless list", endless, "more than 3,000,000 bytes"],
    ["a list that drips", dripping, "within 1s 500ms"],
    ["pages without an end", endlessPages, "--"],
  ])("%s is given up", async ([, answer, says], { onTestFinished }) => {
    const endpoint = await serving(answer, onTestFinished);
    const read = await brokers.sqs.auditor.live.read("eu-west-1", endpoint, boundsFor(says));
    expect(read).toMatchObject({ ok: false, diagnostics: [{ code: "RD407", message: expect.stringContaining(says) }] });
  });
});
