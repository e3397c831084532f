import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type PolicyOptions, redeliverPolicies, rules } from "../../src/policy/index.ts";
import { RefusedError } from "../../src/index.ts";
import { docsOfRule } from "../../src/policy/rule.ts";
import { runExample } from "../support/example-program.ts";
import {
  type PolicyHost,
  policyHost,
  type ReportedViolation,
  startPolicyHost,
  startRefusedPack,
} from "../support/policy-host.ts";
import type { RegisteredResource } from "../support/pulumi.ts";

const tooMany = "examples/policies/retry-attempts-limit/fails.ts";
const ownerless = "examples/policies/topology-owner/fails.ts";

describe("with the defaults alone", () => {
  const host = policyHost("");

  test("every rule describes itself to the engine", async () => {
    const served = await host().served();
    const ofPacks = rules.filter(({ kind }) => kind !== "change");
    expect(served.map(({ name }) => name)).toEqual(ofPacks.map(({ name }) => name));
    for (const policy of served) {
      expect(policy).toMatchObject({ level: "advisory", url: docsOfRule(policy) });
      expect(policy.severity, policy.name).toBeGreaterThan(0);
      expect(policy.remediationSteps, policy.name).toMatch(/\.$/);
      expect(policy.tags.length, policy.name).toBeGreaterThan(0);
      expect(policy.framework, policy.name).toEqual(rules.find(({ name }) => name === policy.name)?.framework);
      expect(Object.values(policy.framework ?? {}).filter((text) => text === "")).toEqual([]);
      for (const setting of Object.values(policy.settings)) expect(setting).toHaveProperty("default");
    }
  });

  test("a violation stops nothing", async () => {
    const { resources } = await runExample(tooMany);
    const found = await host().analyze(resources);
    expect(found.map(({ rule, level }) => [rule, level])).toEqual([["retry-attempts-limit", "advisory"]]);
  });

  test("a tag of the stack counts as an owner", async () => {
    const { resources } = await runExample(ownerless);
    expect(await host().analyze(resources)).toHaveLength(1);
    await host().setStackTags({ owner: "team-billing" });
    expect(await host().analyze(resources)).toEqual([]);
  });

  test("the configuration from the engine goes before the pack's own", async () => {
    const { resources } = await runExample(tooMany);
    await host().configure({ "retry-attempts-limit": { enforcementLevel: "mandatory", max: 49 } });
    expect(await host().analyze(resources)).toMatchObject([
      {
        rule: "retry-attempts-limit",
        level: "mandatory",
        message: expect.stringContaining("50 times; the limit is 49"),
      },
    ]);
    await host().configure({ "retry-attempts-limit": { max: 50 } });
    expect(await host().analyze(resources)).toEqual([]);
    await host().configure({ "retry-attempts-limit": { max: 0 } });
    await expect(host().analyze(resources)).rejects.toThrow(/RD903.*a budget of 0 cannot be kept/s);
    await host().configure({});
  });
});

describe("waivers and names", () => {
  const rule = "retry-attempts-limit";
  let host: PolicyHost;
  let resources: readonly RegisteredResource[];
  beforeAll(async () => {
    const mandatory = `preset: strict\nexclude: ["other*"]\nrules: { ${rule}: { exclude: [warehouse] } }\n`;
    host = await startPolicyHost(mandatory);
    ({ resources } = await runExample(tooMany));
  });
  afterAll(async () => host.stop());

  async function foundWith(settings: Readonly<Record<string, unknown>>): Promise<readonly ReportedViolation[]> {
    await host.configure({ [rule]: settings });
    return host.analyze(resources);
  }
  const waived = (resource: string, expires: string): object => ({
    waivers: [{ resource, reason: "a slow partner until their new API", expires }],
  });

  test("the pack's settings are the defaults that the engine gets", async () => {
    const byName = new Map((await host.served()).map(({ name, settings }) => [name, settings["exclude"]?.["default"]]));
    expect([byName.get(rule), byName.get("retry-jitter")]).toEqual([["warehouse"], ["other*"]]);
  });

  test("a waiver holds until its last day", async () => {
    const day = new Date().toISOString().slice(0, 10);
    expect(await foundWith({ ...waived("shop.billing", "2999-12-31") })).toEqual([]);
    expect(await foundWith({ ...waived("shop.mail", "2999-12-31") })).toHaveLength(1);
    // At midnight the day may change between the two lines.
    const today = await foundWith({ ...waived("shop.billing", day) });
    if (day === new Date().toISOString().slice(0, 10)) expect(today).toEqual([]);
  });

  test("after that the violation is back, with the reason of the waiver", async () => {
    const reason = "the waiver for it expired on 2020-01-31; its reason was: a slow partner until their new API";
    const message = expect.stringContaining(reason) as string;
    expect(await foundWith({ ...waived("shop", "2020-01-31") })).toMatchObject([{ level: "mandatory", message }]);
  });

  test.each([
    [{ exclude: ["shop"] }, 0],
    [{ exclude: ["*.billing"] }, 0],
    [{ exclude: ["sho", "shopping", "s.op"] }, 1],
    [{ include: ["warehouse"] }, 0],
    [{ include: ["sh*"] }, 1],
    [{ enforcementLevel: "disabled" }, 0],
  ])("%j leaves %d", async (settings, count) => {
    expect(await foundWith(settings)).toHaveLength(count);
  });
});

describe("remediation", () => {
  const rule = "sqs-encryption";
  const inClear = "examples/policies/sqs-encryption/fails.ts";
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: "{}" };
  const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  let host: PolicyHost;
  let queue: RegisteredResource;
  beforeAll(async () => {
    host = await startPolicyHost(`rules: { ${rule}: remediate }\n`);
    const { resources } = await runExample(inClear);
    const found = resources.find(({ inputs }) => inputs["sqsManagedSseEnabled"] === false);
    if (found === undefined) throw new Error("the example has no queue in clear");
    queue = found;
  });
  afterAll(async () => host.stop());

  test("switches encryption on and changes nothing else, not even secrets and unknown values", async () => {
    const inputs = { ...queue.inputs, policy: secret, name: unknown };
    const mended = { ...inputs, sqsManagedSseEnabled: true };
    expect(await host.remediate({ ...queue, inputs })).toEqual([{ rule, properties: mended }]);
    expect(await host.remediate({ ...queue, inputs: mended })).toEqual([]);
    expect(await host.analyze([{ ...queue, inputs: mended }])).toEqual([]);
  });

  test.each([
    { kmsMasterKeyId: "alias/orders" },
    { kmsMasterKeyId: unknown },
    { sqsManagedSseEnabled: unknown },
    { sqsManagedSseEnabled: true },
  ])("changes no queue with %j", async (inputs) => {
    expect(await host.remediate({ ...queue, inputs: { ...queue.inputs, ...inputs } })).toEqual([]);
  });

  test("changes no waived queue, and nothing if the options do not ask for it", async () => {
    const waivers = [{ resource: queue.name, reason: "public data", expires: "2999-12-31" }];
    await host.configure({ [rule]: { enforcementLevel: "remediate", waivers } });
    expect(await host.remediate(queue)).toEqual([]);
    await host.configure({ [rule]: { enforcementLevel: "mandatory" } });
    expect(await host.remediate(queue)).toEqual([]);
    expect(await host.analyze([queue])).toMatchObject([{ rule, level: "mandatory" }]);
  });
});

describe("a pack with wrong options does not load, and gives one message with the reason", () => {
  const refusals: readonly (readonly [string, string, string])[] = [
    ["rules: { retry-attempt-limit: mandatory }", "RD902", "did you mean retry-attempts-limit?"],
    ["rules: { retry-attempts-limit: fatal }", "RD901", '"fatal" is not one of advisory, mandatory'],
    ["rules: { retry-attempts-limit: { max: 0 } }", "RD903", "a budget of 0 cannot be kept; the least is 1"],
    ["rules: { dead-letter-time-limit: { max: 0s } }", "RD903", 'a budget of "0s" cannot be kept; the least is 1ms'],
    ["rules: { first-retry-delay: { min: soon } }", "RD901", '"soon" is not a duration such as'],
    ["rules: { retry-jitter: { mostKeys: many } }", "RD901", '"many" is not a whole number'],
    ["rules: { retry-jitter: { waivers: [{ resource: shop, expires: 2999-01-01 }] } }", "RD901", "reason is missing"],
    [
      "rules: { retry-jitter: { waivers: [{ resource: shop, reason: x, expires: someday }] } }",
      "RD901",
      '"someday" is not a day such as 2027-01-31',
    ],
    ["rules: { retry-jitter: remediate }", "RD901", '"remediate" is not one of advisory, mandatory, disabled'],
    ["targets: [rabbitmq@2.8]", "RD901", '"rabbitmq@2.8" is not a target such as rabbitmq@4.0'],
    ["presets: strict", "RD901", "did you mean preset?"],
    ["- strict", "RD901", "the options of a policy pack are a mapping; this is a list"],
  ];

  test.each(refusals)("%s", (options, code, message) => {
    const refused = (): unknown => redeliverPolicies(parse(options) as PolicyOptions);
    expect(refused).toThrow(RefusedError);
    expect(refused).toThrow(`error[${code}]: `);
    expect(refused).toThrow(message);
  });

  test("Pulumi's host shows the message without a stack trace, and ends", async () => {
    const { exitCode, output } = await startRefusedPack("rules: { retry-attempts-limit: { max: 0 } }");
    expect(exitCode).not.toBe(0);
    expect(output).toContain("the options in options.yaml are refused");
    expect(output.match(/error\[RD903\]/g)).toHaveLength(1);
    expect(output).not.toMatch(/\n\s+at .*\.(ts|js):\d+/);
  });
});
