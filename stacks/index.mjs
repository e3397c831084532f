// Pulumi starts this file, because a Node that runs no TypeScript can still read it and say so.
import { RunError } from "@pulumi/pulumi";

if (!process.features.typescript)
  throw new RunError(
    `Redeliver needs Node 22.18 or newer, and this is ${process.version}: npm exec -c "pulumi up" uses the Node in node_modules`,
  );

export const { deployedTo, workQueues } = await import("./index.ts");
