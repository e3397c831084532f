import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import * as pulumi from "@pulumi/pulumi";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

import { readStackConfig } from "../../src/brokers/rabbitmq/make/index.ts";
import { isSecretInput, type ProgramRun, resourcesOf, runProgram, stackProgram } from "../support/pulumi.ts";
import { selfSigned } from "../support/self-signed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const password = "correct-horse-battery-staple";
const secretKeys = ["redeliver:password"];
const config = {
  "redeliver:target": { broker: "rabbitmq", version: "4.3" },
  "redeliver:vhost": "shop",
  "redeliver:endpoint": "https://rabbitmq.example.com",
  "redeliver:username": "deployer",
  "redeliver:password": password,
};

const everythingBut = (key: keyof typeof config): object =>
  Object.fromEntries(Object.entries(config).filter(([each]) => each !== key));

async function expectRefusal(changed: object, secrets: readonly string[] = secretKeys): Promise<string> {
  const run = await runProgram(stackProgram, { stack: "prod", config: changed as typeof config, secretKeys: secrets });
  expect(
    run.resources.map(({ type }) => type),
    "nothing is registered but the stack",
  ).toEqual(["pulumi:pulumi:Stack"]);
  expect(pulumi.RunError.isInstance(run.error), "Pulumi shows a RunError without its stack").toBe(true);
  const message = run.error?.message ?? "";
  expect(message).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(message + run.log.join("\n")).not.toContain(password);
  const [heading, ...rest] = message.split("\n");
  expect(heading).toBe('The configuration of stack "prod" is refused');
  return rest.join("\n").replaceAll(/^ {2}see .*\n?/gm, "");
}

const target = (changed: object): object => ({
  ...config,
  "redeliver:target": { broker: "rabbitmq", version: "4.3", ...changed },
});

const badValues: readonly (readonly [string, object, string])[] = [
  ["a version that YAML made a number of", target({ version: 4.3 }), "config:redeliver:target.version = 4.3"],
  ["an unstudied version", target({ version: "9.9" }), 'config:redeliver:target.version = "9.9"'],
  ["no version", target({ version: undefined }), "config:redeliver:target.version"],
  ["another broker", target({ broker: "kafka" }), 'config:redeliver:target.broker = "kafka"'],
  ["an unknown strategy", target({ strategy: "stagd" }), 'config:redeliver:target.strategy = "stagd"'],
  ["an unknown key of the target", target({ verison: "4.3" }), "config:redeliver:target.verison"],
  [
    "a target that is a text",
    { ...config, "redeliver:target": "rabbitmq@4.3" },
    'config:redeliver:target = "rabbitmq@4.3"',
  ],
  ["no target", everythingBut("redeliver:target"), "config:redeliver:target"],
  ["an empty vhost", { ...config, "redeliver:vhost": "" }, 'config:redeliver:vhost = ""'],
  ["an @ in the vhost", { ...config, "redeliver:vhost": "a@b" }, 'config:redeliver:vhost = "a@b"'],
  ["no vhost", everythingBut("redeliver:vhost"), "config:redeliver:vhost"],
  [
    "an endpoint of another protocol",
    { ...config, "redeliver:endpoint": "amqp://localhost" },
    'config:redeliver:endpoint = "amqp://localhost"',
  ],
  [
    "an endpoint that is no URL",
    { ...config, "redeliver:endpoint": "localhost" },
    'config:redeliver:endpoint = "localhost"',
  ],
  ["an empty endpoint", { ...config, "redeliver:endpoint": "" }, 'config:redeliver:endpoint = ""'],
  ...["?token=", "/?sig=", "#", "/api?a=b&password="].map(
    (query) =>
      [
        `a query or a fragment in the endpoint: ${query}`,
        { ...config, "redeliver:endpoint": `http://localhost:15672${query}${password}` },
        "config:redeliver:endpoint",
      ] as const,
  ),
  [
    "credentials in the endpoint",
    { ...config, "redeliver:endpoint": `http://guest:${password}@localhost:15672` },
    "config:redeliver:endpoint",
  ],
  ["no user", everythingBut("redeliver:username"), "config:redeliver:username"],
  ["no password", everythingBut("redeliver:password"), "config:redeliver:password"],
  ["an empty password", { ...config, "redeliver:password": "" }, "config:redeliver:password"],
  ["a misspelled key", { ...config, "redeliver:tagret": {} }, "config:redeliver:tagret"],
  ["the check of certificates turned off", { ...config, "redeliver:insecure": "true" }, "config:redeliver:insecure"],
  [
    "an authority that is not there",
    { ...config, "redeliver:cacertFile": "nowhere.pem" },
    "config:redeliver:cacertFile",
  ],
  ["an authority that is none", { ...config, "redeliver:cacertFile": "package.json" }, "config:redeliver:cacertFile"],
  ["an empty path", { ...config, "redeliver:cacertFile": "" }, 'config:redeliver:cacertFile = ""'],
  [
    "a key without its certificate, which is no key",
    { ...config, "redeliver:clientkeyFile": "package.json" },
    "config:redeliver:clientkeyFile",
  ],
  [
    "an authority for an endpoint without TLS",
    { ...config, "redeliver:endpoint": "http://localhost:15672", "redeliver:cacertFile": "nowhere.pem" },
    "config:redeliver:cacertFile",
  ],
  ["a misspelled secret", { ...config, "redeliver:pasword": password }, "config:redeliver:pasword"],
];

describe("a bad value gives one diagnostic", () => {
  test.each(badValues)("%s", async (_, changed, place) => {
    const text = await expectRefusal(changed);
    expect(text.match(/\[RD\d+\]/g)).toEqual(["[RD301]"]);
    expect(text).toContain(`\n  at   ${place}\n`);
    expect(text).toMatch(/\n {2}fix {2}\S/);
  });

  test("a password in clear in the stack's file is refused", async () => {
    const text = await expectRefusal(config, []);
    expect(text).toBe(
      [
        "error[RD301]: the password is in clear in the stack's file",
        "  at   config:redeliver:password",
        "  note every reader of the repository can read it; set it as a secret, and change it on the broker",
        "  fix  pulumi config set --secret redeliver:password",
        "",
      ].join("\n"),
    );
  });

  test("the value of another key is hidden if it was set as a secret", async () => {
    const text = await expectRefusal({ ...config, "redeliver:endpoint": password }, [
      "redeliver:endpoint",
      ...secretKeys,
    ]);
    expect(text).toContain("  at   config:redeliver:endpoint\n");
  });
});

test("all bad values are reported at once", async () => {
  const text = await expectRefusal({
    "redeliver:target": { broker: "rabbitmq", version: 4 },
    "redeliver:endpoint": "localhost",
    "redeliver:usrname": "x",
  });
  expect(text.match(/^ {2}at .*$/gm)).toEqual([
    "  at   config:redeliver:target.version = 4",
    "  at   config:redeliver:vhost",
    '  at   config:redeliver:endpoint = "localhost"',
    "  at   config:redeliver:usrname",
    "  at   config:redeliver:password",
  ]);
});

describe("the password", () => {
  const expectNowhereButProvider = (run: ProgramRun): void => {
    expect(run.error).toBeUndefined();
    const [provider, ...others] = resourcesOf(run, "rabbitmq");
    expect(others).toEqual([]);
    expect(isSecretInput(provider?.inputs["password"])).toBe(true);
    expect(provider?.inputs["password"]).toMatchObject({ value: password });
    const rest = run.resources.map((resource) =>
      resource === provider ? { ...resource, inputs: { ...resource.inputs, password: "" } } : resource,
    );
    expect(JSON.stringify([rest, [...run.registeredOutputs], run.outputs, run.log])).not.toContain(password);
  };

  test.each([true, false])("reaches the provider as a secret, and nothing else (preview: %s)", async (preview) => {
    expectNowhereButProvider(await runProgram(stackProgram, { config, secretKeys, preview }));
  });
});

test("every RabbitMQ resource uses the stack's own provider", async () => {
  const run = await runProgram(stackProgram, { config, secretKeys });
  const provider = resourcesOf(run, "rabbitmq")[0];
  const users = run.resources.filter(({ type }) => type.startsWith("rabbitmq:")).map((each) => each.provider);
  expect(new Set(users)).toEqual(new Set([`${provider?.urn}::broker-id`]));
});

test("certificates reach the provider, which always checks the broker's certificate", async () => {
  const folder = temporaryFolder("stack", onTestFinished);
  const { certificate, key } = selfSigned("localhost");
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const files = {
    cacertFile: file("ca.pem", certificate),
    clientcertFile: file("client.pem", certificate),
    clientkeyFile: file("client.key", key),
  };
  const named = Object.fromEntries(Object.entries(files).map(([name, path]) => [`redeliver:${name}`, path]));
  const run = await runProgram(stackProgram, { stack: "prod", config: { ...config, ...named }, secretKeys });
  expect(run.error).toBeUndefined();
  const provider = run.resources.find(({ type }) => type === "pulumi:providers:rabbitmq");
  expect(provider?.inputs).toMatchObject({ ...files, insecure: "false" });
  const text = await expectRefusal({
    ...config,
    ...named,
    "redeliver:clientkeyFile": file("other.key", selfSigned("x").key),
  });
  expect(text).toContain("clientkeyFile does not belong to the certificate");
});

test("keys of other namespaces are ignored", async () => {
  const run = await runProgram(() => readStackConfig(new pulumi.Config()).vhost, {
    config: { ...config, "aws:region": "eu-west-1" },
    secretKeys,
  });
  expect(run.error).toBeUndefined();
});

test("the program runs in Node without a build", () => {
  const support = new URL("../support/pulumi.ts", import.meta.url).href;
  const script = `
    const { runProgram, stackProgram } = await import(${JSON.stringify(support)});
    const run = await runProgram(stackProgram, ${JSON.stringify({ config, secretKeys })});
    console.log(run.error?.message ?? Object.keys(run.outputs).join(" "));
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect(output).toBe("deployedTo workQueues\n");
});

describe("the example stacks", () => {
  const stacks = ["dev", "staging", "prod"] as const;
  const read = (stack: string): Record<string, unknown> => {
    const text = readFileSync(new URL(`../../stacks/Pulumi.${stack}.yaml`, import.meta.url), "utf8");
    return (parse(text) as { config: Record<string, unknown> }).config;
  };

  test.each(stacks)("%s is accepted after its password is set, which is not in the repository", async (stack) => {
    expect(Object.keys(read(stack))).not.toContain("redeliver:password");
    const run = await runProgram(stackProgram, {
      stack,
      config: { ...read(stack), "redeliver:password": password },
      secretKeys,
    });
    expect(run.error).toBeUndefined();
    expect(resourcesOf(run, "Queue").length).toBeGreaterThanOrEqual(8);
  });

  test("differ only in their configuration", () => {
    expect(stacks.map((stack) => read(stack)["redeliver:target"])).toEqual([
      { broker: "rabbitmq", version: "4.3" },
      { broker: "rabbitmq", version: "4.3" },
      { broker: "rabbitmq", version: "4.0" },
    ]);
  });
});
