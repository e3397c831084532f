import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { connectByAmqp091, destroyConnection } from "../../src/brokers/rabbitmq/run/amqp-0-9-1/connect.ts";

/** The part of amqplib that encodes frames. Its exports leave it out. */
interface Codec {
  readonly encodeMethod: (id: number, channel: number, fields: object) => Buffer;
  readonly ConnectionStart: number;
  readonly ConnectionTune: number;
  readonly ConnectionOpenOk: number;
  readonly ConnectionClose: number;
}

const require = createRequire(import.meta.url);
const codec = require(join(dirname(require.resolve("amqplib")), "lib", "defs.js")) as Codec;
const frame = (id: number, fields: object): Buffer => codec.encodeMethod(id, 0, fields);

const start = frame(codec.ConnectionStart, {
  versionMajor: 0,
  versionMinor: 9,
  serverProperties: {},
  mechanisms: Buffer.from("PLAIN"),
  locales: Buffer.from("en_US"),
});
const tune = frame(codec.ConnectionTune, { channelMax: 2_047, frameMax: 131_072, heartbeat: 60 });
const openOk = frame(codec.ConnectionOpenOk, {});
const closing = { replyCode: 541, replyText: "INTERNAL_ERROR", classId: 0, methodId: 0 };
const close = frame(codec.ConnectionClose, closing);

/** A broker that opens a connection and sends more bytes in the same packet. */
async function brokerThatSays(more: Buffer): Promise<number> {
  const answer = async (socket: Socket): Promise<void> => {
    socket.on("error", () => undefined);
    for (const words of [start, tune, Buffer.concat([openOk, more])]) {
      await once(socket, "data");
      socket.write(words);
    }
  };
  const server = createServer((socket) => void answer(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("if a broker opens and closes a connection in one packet, the opener gets the error", async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.prependListener("uncaughtException", note);
  onTestFinished(() => void process.off("uncaughtException", note));
  const port = await brokerThatSays(close);
  const opening = connectByAmqp091({ url: `amqp://127.0.0.1:${port}`, withinMs: 10_000 }, null);
  await expect(opening).rejects.toThrow("INTERNAL_ERROR");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(uncaught).toEqual([]);
});

test("a stopping broker's close reaches the opener, although amqplib does not treat its code as an error", async () => {
  const port = await brokerThatSays(frame(codec.ConnectionClose, { ...closing, replyCode: 320 }));
  const opening = connectByAmqp091({ url: `amqp://127.0.0.1:${port}`, withinMs: 10_000 }, null);
  await expect(opening).rejects.toThrow();
});

test("a broker that only opens the connection gives the connection", async () => {
  const port = await brokerThatSays(Buffer.alloc(0));
  const model = await connectByAmqp091({ url: `amqp://127.0.0.1:${port}`, withinMs: 10_000 }, null);
  model.on("error", () => undefined);
  destroyConnection(model);
  expect(model.connection.serverProperties).toEqual({});
});
