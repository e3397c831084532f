import fc from "fast-check";
import { expect, test } from "vitest";

import { auditDeployment } from "../../src/brokers/rabbitmq/foreign/audit.ts";
import { brokerTopologyOf } from "../../src/brokers/rabbitmq/prove/semantics.ts";
import { compile, parseTarget } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { accepted, checked } from "../support/examples.ts";
import { forAll } from "../support/for-all.ts";

// Reaches one answer in two ways. The audit knows neither contract nor consumer. It must accept every topology that the
// compiler makes and the proof accepts.

test("an audit finds neither an error nor a warning in a compiled topology", () => {
  forAll(170, [anySystem, anyTarget], (input, written) => {
    const target = accepted(parseTarget(`rabbitmq@${written.version}`, written.strategy));
    const compiled = compile(checked(input), target);
    fc.pre(compiled.ok);
    const topology = brokerTopologyOf(compiled.value.topology);
    const deployment = { brokerVersion: null, virtualHosts: [{ name: "/", topology }] };
    expect(auditDeployment(deployment, target, null).map(({ code }) => code)).toEqual([]);
  });
});
