import { readFileSync } from "node:fs";
import { consume } from "redeliver/consume";
import { parse } from "yaml";

// A handled message is gone. So the program starts only when you have written handle, and set this to true.
const isWritten = false;

// The body is the parsed JSON. That of MassTransit has the message in body.message.
async function handle({ id, body }) {
  console.log("handled", id, body);
}

if (!isWritten) throw new Error("write the code of handle first, and set isWritten to true");
const read = (file) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
const system = parse(read("shop.yaml"));
const target = JSON.parse(read("target.json"));
const connection = { url: process.env.RABBITMQ_URL, managementUrl: process.env.RABBITMQ_ENDPOINT };

// The log says when the circuit breaker pauses.
const log = (event) => event.kind !== "settled" && console.log(event);
const consumer = await consume(system, "billing", { target, connection, log }, handle);
process.once("SIGTERM", () => consumer.stop());
