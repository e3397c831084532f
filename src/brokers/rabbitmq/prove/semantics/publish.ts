import { route } from "../routing.ts";
import type { Context } from "./context.ts";
import { enqueue, lost } from "./dead-letter.ts";
import { keysIn, parseDeaths, routingHeaders } from "./deaths.ts";
import type { Circumstances, Headers, MessageState, Outcome, Publication } from "./message-state.ts";

export function publish(
  context: Context,
  publication: Publication,
  circumstances: Circumstances = {},
): readonly Outcome[] {
  const message = messageOf(context, publication);
  const routed = route(context.routing, message.exchange, {
    routingKeys: message.routingKeys,
    headers: routingHeaders(message),
  });
  if (routed === null) return [[lost(message, "missing-exchange", null, null)]];
  if (routed.length === 0) return [[lost(message, "no-route", null, null)]];
  return [routed.flatMap((queue) => enqueue(context, message, queue, "client", circumstances))];
}

/**
 * The keys in order: the routing key, then those of CC, then those of BCC. Source: `mc_amqpl:message/4`,
 * `rabbit_basic:header_routes/1`.
 */
function messageOf(context: Context, publication: Publication): MessageState {
  const { BCC: blind, "x-death": history, ...visible } = publication.headers ?? noHeaders;
  const deaths = context.rules.readsPublishedDeaths ? parseDeaths(history) : [];
  const blindKeys = keysIn(blind);
  return {
    place: { kind: "lost", cause: "no-route", queue: null, reason: null },
    exchange: publication.exchange,
    routingKeys: [publication.routingKey, ...keysIn(visible["CC"]), ...blindKeys],
    blindKeys,
    headers: history === undefined || deaths.length > 0 ? visible : { ...visible, "x-death": history },
    firstDeath: null,
    lastDeath: null,
    deaths,
    deliveryCount: 0,
    acquiredCount: 0,
    expirationMs: publication.expirationMs ?? null,
    expiresAfterMs: null,
  };
}

const noHeaders: Headers = Object.freeze({});
