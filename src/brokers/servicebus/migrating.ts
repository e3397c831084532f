import type { RequestBounds } from "../../foreign/request-budget.ts";
import type { SdkReader } from "../broker.ts";
import type { Migrating, Watched } from "../migrating.ts";
import { auditor } from "./auditor.ts";
import type { ServicebusCompiled } from "./compile/compile.ts";
import type { Deployment } from "./foreign/deployment.ts";

/** Watches a migration that a deployment carries out. Nothing lists consumers. */
export const migrating: Migrating<ServicebusCompiled, Deployment, SdkReader<readonly Watched[]>> = Object.freeze({
  // A queue that stays is no difference.
  deployedAfter: (_: ServicebusCompiled, after: ServicebusCompiled) => after,
  keepsSettings: false,
  // Azure deletes a subscription with the messages that it has not yet forwarded.
  givesUp: "leave only the rule $Default, with the filter 1=0, in",
  reader: {
    ...auditor.live,
    read: async (host: string, _endpoint: string | undefined, bounds: Partial<RequestBounds>) => {
      const { readNamespace } = await import("./run/read-namespace.ts");
      const { countMessages } = await import("./run/count-messages.ts");
      return readNamespace(host, countMessages, bounds);
    },
  },
  // Microsoft names no limit.
  countsLagMs: 60_000,
});
