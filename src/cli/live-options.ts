import { InvalidArgumentError, Option } from "commander";

import { durationPattern, parseDurationMs } from "../declare/duration.ts";
import { auditedBrokers, stateTools } from "./audit-source.ts";

/**
 * The options for requests to a running broker: certificates, and limits of size and time. There is none for a
 * passphrase, because other users of the machine can see the options of every command.
 */
export function liveOptions(): readonly Option[] {
  const files = {
    "--ca <file>": "the authority of the certificate of an https: URL, in PEM",
    "--cert <file>": "the client certificate, if the broker requires one",
    "--key <file>": "its private key; RABBITMQ_KEY_PASSPHRASE decrypts it",
  };
  // Reading a file needs none of them.
  const others = [
    ...auditedBrokers().map(({ auditor }) => auditor.file.option),
    ...stateTools.map(({ option }) => option),
  ];
  return [
    ...Object.entries(files).map(([flags, what]) => new Option(flags, what).conflicts(others)),
    new Option(
      "--max-bytes <number>",
      "the largest answer that --url accepts, after decompression; 500000000 by default",
    ).argParser(bytes),
    new Option("--timeout <duration>", "the time limit for all answers of --url; 5m by default").argParser(duration),
  ];
}

function bytes(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A number of bytes is a whole number of at least 1.");
}

/** A timer takes no more than 24 days. */
export function duration(text: string): number {
  const durationMs = durationPattern.test(text) ? parseDurationMs(text) : 0;
  if (durationMs > 0 && durationMs < 2 ** 31) return durationMs;
  throw new InvalidArgumentError("It is a duration such as 90s or 10m, and at most 24d.");
}
