import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";

import { checkRabbitmqTarget, parseRabbitmqTarget } from "../../src/brokers/rabbitmq/compile/target.ts";
import { checkCommand } from "../../src/cli/check.ts";
import { compileCommand, reportCommand } from "../../src/cli/commands.ts";
import { prepare } from "../../src/consume/consume.ts";
import { plan } from "../../src/plan/plan.ts";
import { readComponent } from "../../src/policy/component.ts";
import { verifyAll } from "../../src/verify/verify.ts";
import shop from "../../stacks/shop.ts";
import { register } from "../support/pulumi.ts";

// The modules do all of their work, and count their calls.
vi.mock("../../src/plan/plan.ts", { spy: true });
vi.mock("../../src/verify/verify.ts", { spy: true });
vi.mock("../../src/brokers/rabbitmq/compile/target.ts", { spy: true });

const callsOf = (...counted: readonly ((...given: never[]) => unknown)[]): number =>
  counted.reduce((sum, each) => sum + vi.mocked(each).mock.calls.length, 0);
const counts = (): Record<string, number> => ({
  planned: callsOf(plan),
  proved: callsOf(verifyAll),
  targets: callsOf(checkRabbitmqTarget, parseRabbitmqTarget),
});

const folder = mkdtempSync(join(tmpdir(), "redeliver-once-"));
const output = join(folder, "output");
const options = { target: "rabbitmq@4.3", strategy: "auto", output };
const target = { broker: "rabbitmq", version: "4.3" } as const;

beforeEach(() => {
  vi.clearAllMocks();
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
});

test.for<readonly [string, () => unknown]>([
  ["check", () => checkCommand("examples/shop.yaml", { ...options, format: "text" })],
  ["check for tools", () => checkCommand("examples/shop.yaml", { ...options, format: "sarif" })],
  ["compile", () => compileCommand("examples/shop.yaml", { ...options, format: "definitions" })],
  ["the start of a consumer", () => prepare(shop, "billing", { target, connection: { url: "amqp://localhost" } })],
  ["a component", () => register(shop, "4.3")],
  ["a policy pack", () => readComponent({ declaration: shop, target }, new Map())],
])("%s plans once, proves once and checks its target once", async ([, run]) => {
  await run();
  expect(counts()).toEqual({ planned: 1, proved: 1, targets: 1 });
});

test("report plans once for all targets, and proves once for each", async () => {
  const targets = ["rabbitmq@4.3", "rabbitmq@3.10", "rabbitmq@4.0"];
  await reportCommand("examples/shop.yaml", { target: targets, strategy: "auto", output: folder, json: true });
  expect(counts()).toEqual({ planned: 1, proved: 3, targets: 3 });
});
