#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// A second start is twice as fast; where the cache cannot be written nothing is lost.
enableCompileCache();
const { run } = await import("./run.ts");
process.exitCode = await run(process.argv.slice(2));
