import fc from "fast-check";
import { expect, test } from "vitest";

import { auditDeployment } from "../../src/brokers/rabbitmq/audit.ts";
import { brokerTopologyOf } from "../../src/brokers/rabbitmq/semantics.ts";
import { compile, parseTarget } from "../../src/index.ts";
import { anySystem, anyTarget } from "../support/arbitraries.ts";
import { checked } from "../support/examples.ts";

// Two ways to one answer: what the compiler makes and the proof accepts, the audit, which knows neither contract nor consumer, must accept too.

test(
  "an audit finds no error in anything that compiles, and of warnings only what a contract takes care of",
  { timeout: 60_000 },
  () => {
    let audited = 0;
    fc.assert(
      fc.property(anySystem, anyTarget, (input, written) => {
        const target = parseTarget(`rabbitmq@${written.version}`, written.strategy);
        if (!target.ok) throw new Error("the version is known");
        const compiled = compile(checked(input), target.value);
        if (!compiled.ok) return;
        const topology = brokerTopologyOf(compiled.value.topology);
        const deployment = { brokerVersion: null, virtualHosts: [{ name: "/", topology }] };
        const codes = auditDeployment(deployment, target.value, null).map(({ code }) => code);
        // The contract says basic.reject, or a named time, where a failure has to count.
        expect(codes.filter((code) => code !== "RD417")).toEqual([]);
        audited++;
      }),
      { numRuns: 400 },
    );
    expect(audited).toBeGreaterThan(150);
  },
);
