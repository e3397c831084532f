import { attemptBehaviours } from "./attempts.ts";
import type { Behaviour } from "./behaviour.ts";
import { crashBehaviours } from "./crashes.ts";
import { topicBehaviours } from "./topics.ts";

const all = { ...attemptBehaviours, ...crashBehaviours, ...topicBehaviours };
type BehaviourName = keyof typeof all;

export const behaviours: Readonly<Record<string, Behaviour>> = all;

/** Behaviours that are not shown on Microsoft's emulator, with the reason. All others are the same test on both. */
export const notOnMicrosofts: Readonly<Record<string, string>> = {
  "ttl-tier, which only its name chooses: an attempt does not come before its tier has expired":
    "its times to live begin at 5 minutes",
  "nothing in the one dead queue is lost to time, however short its message's own time to live":
    "Microsoft names no time by which a message has expired",
} satisfies Partial<Record<BehaviourName, string>>;

/** The behaviours that run on both emulators. */
export const sharedBehaviours = Object.entries(behaviours).filter(([name]) => !Object.hasOwn(notOnMicrosofts, name));
