export type { Right } from "./access.ts";
export { createClient } from "./clients.ts";
export type { ServicebusEmulator } from "./emulator.ts";
export { startEmulator } from "./emulator.ts";
export { createReceiver, peekAll, subscriptionOf } from "./entity.ts";
export { beyondTheEmulator, type Gap, gaps, proofOf } from "./known-gaps.ts";
export { type Lab, startLab } from "./lab.ts";
export { waitUntil } from "./wait-until.ts";
export type { Heard, Watcher } from "./watcher.ts";
