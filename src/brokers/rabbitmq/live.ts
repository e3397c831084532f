import type { Checked, Diagnostic } from "../../diagnostics/diagnostic.ts";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import type { HttpReader, LiveRequest } from "../broker.ts";
import type { Deployment } from "./deployment.ts";
import { placeOf } from "./deployment.ts";
import { isEntry } from "../entries.ts";
import { nameSome } from "./import/draft.ts";
import { readDefinitionsData } from "./read-definitions.ts";

const tags = "management, policymaker, monitoring or administrator";
const grant = "rabbitmqctl set_permissions --vhost VHOST USER '^$' '^$' '^$' grants one that allows nothing";

/**
 * How a running RabbitMQ is read: the lists of the management API. `GET /api/definitions` is not asked for: it takes an administrator, and
 * leaves out exclusive queues and internal exchanges, which are in the lists.
 * Source: `is_authorized/2` in `rabbit_mgmt_wm_*.erl` (3.10.8, 4.3.5).
 */
export const live: HttpReader<Deployment> = Object.freeze({
  kind: "http",
  schemes: Object.freeze(["http:", "https:"]),
  greeting: Object.freeze({ name: "overview", path: "api/overview?disable_stats=true" }),
  requests,
  isGreeting: (text: string) => versionIn(text) !== null,
  read,
  refusal,
  environment: Object.freeze({ user: "RABBITMQ_USERNAME", password: "RABBITMQ_PASSWORD" }),
  unreachableHelp:
    "name the management API, such as http://localhost:15672; rabbitmq-plugins enable rabbitmq_management starts it",
});

/** Statistics are left out, which cost a broker with many queues more than the lists themselves. */
function requests(virtualHost: string | null): readonly LiveRequest[] {
  const below = virtualHost === null ? "" : `/${encodeURIComponent(virtualHost)}`;
  const list = (name: string): LiveRequest => ({ name, path: `api/${name}${below}?disable_stats=true` });
  return [
    ...(virtualHost === null ? [{ name: "vhosts", path: "api/vhosts?disable_stats=true" }] : []),
    ...["exchanges", "queues", "bindings", "policies", "operator-policies"].map(list),
  ];
}

function versionIn(text: string): string | null {
  const overview = parse(text);
  return isEntry(overview) && typeof overview["rabbitmq_version"] === "string" ? overview["rabbitmq_version"] : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function read(answers: ReadonlyMap<string, string>, virtualHost: string | null): Checked<Deployment> {
  const lists = new Map([...answers].map(([name, text]) => [name, parse(text)] as const));
  const listOf = (name: string): readonly unknown[] => {
    const list = lists.get(name);
    return Array.isArray(list) ? list : [];
  };
  const broken = [...lists].find(([name, list]) => name !== "overview" && !Array.isArray(list))?.[0];
  if (broken !== undefined) {
    const message = `the broker's answer to api/${broken} is no list`;
    const help = "try again; a proxy before the broker may have cut the answer";
    return { ok: false, diagnostics: [diagnostic("RD407", { path: "", message, help })] };
  }
  const seen = new Set(listOf("exchanges").map((each) => (isEntry(each) ? each["vhost"] : undefined)));
  // Every virtual host has exchanges of its own, so one without any is one that is not shown.
  const hidden = namesIn(listOf("vhosts")).filter((name) => !seen.has(name));
  const visible = virtualHost === null ? namesIn(listOf("vhosts")).filter((name) => seen.has(name)) : [virtualHost];
  if (visible.length === 0) return { ok: false, diagnostics: [nothingVisible(hidden)] };
  const definitions = {
    rabbitmq_version: versionIn(answers.get("overview") ?? ""),
    vhosts: visible.map((name) => ({ name })),
    exchanges: listOf("exchanges"),
    queues: listOf("queues"),
    bindings: listOf("bindings"),
    policies: listOf("policies"),
    parameters: listOf("operator-policies").map((each) =>
      isEntry(each) ? { vhost: each["vhost"], component: "operator_policy", name: each["name"], value: each } : each,
    ),
  };
  lists.clear();
  const deployment = readDefinitionsData(definitions);
  if (!deployment.ok || hidden.length === 0) return deployment;
  return { ...deployment, warnings: [leftOut(hidden), ...deployment.warnings] };
}

function namesIn(list: readonly unknown[]): readonly string[] {
  return list.flatMap((each) => (isEntry(each) && typeof each["name"] === "string" ? [each["name"]] : []));
}

/**
 * A user with the tag monitoring is told all the names of virtual hosts, but only what is in those that it has a permission in; the
 * other lists are silently shorter. Source: `rabbit_mgmt_util:filter_vhost/3`, `list_visible_vhosts/2`.
 */
function leftOut(hidden: readonly string[]): Diagnostic {
  return diagnostic("RD409", {
    path: placeOf(hidden[0] ?? "", null),
    message: `left out, since this user has no permission there: ${nameSome(hidden)}`,
    notes: ["a tag alone shows the names of virtual hosts; what is in one takes a permission in it"],
    help: grant,
  });
}

function nothingVisible(hidden: readonly string[]): Diagnostic {
  return diagnostic("RD408", {
    path: "",
    message: "the broker shows this user nothing of any virtual host",
    notes: [
      hidden.length === 0
        ? "the user has a permission in no virtual host"
        : `there are ${nameSome(hidden)}, and the user has a permission in none of them`,
    ],
    help: grant,
  });
}

/** Up to 4.1 the broker answers 401 to a user without permission, from 4.2 on 404. Source: `rabbit_web_dispatch_access_control:user_matches_vhost/2`. */
function refusal(status: number, text: string, virtualHost: string | null): Diagnostic {
  const answer = parse(text);
  const reason = isEntry(answer) ? answer["reason"] : undefined;
  const input = { path: "", notes: [`the user needs the tag ${tags}`] };
  const name = JSON.stringify(virtualHost);
  switch (status) {
    case 401:
    case 403:
      // Only the words that are known are passed on: what answers may be anything.
      if (reason === "Not management user")
        return diagnostic("RD408", {
          ...input,
          message: "the broker knows the user, who has none of the tags that the management API asks for (401)",
          help: "rabbitmqctl set_user_tags USER management",
        });
      if (reason === "User can only log in via localhost")
        return diagnostic("RD408", {
          ...input,
          message: "the broker lets this user in only from its own machine (401)",
          help: "use another user: guest is for localhost alone",
        });
      if (reason === "User not authorised to access virtual host")
        return diagnostic("RD408", {
          ...input,
          message: `the user has no permission in the virtual host ${name} (401)`,
          help: grant,
        });
      return diagnostic("RD408", {
        ...input,
        message: `the broker refuses the user name or the password (${status})`,
        help: "check both; RABBITMQ_USERNAME and RABBITMQ_PASSWORD count where the URL has none",
      });
    case 404:
      if (virtualHost !== null)
        return diagnostic("RD408", {
          ...input,
          message: `there is no virtual host ${name}, or the user has no permission in it (404)`,
          notes: ["the path of the URL is the name of a virtual host, and / is written %2F"],
          help: grant,
        });
      return notRabbitmq(status);
    default:
      return notRabbitmq(status);
  }
}

function notRabbitmq(status: number): Diagnostic {
  return diagnostic("RD407", {
    path: "",
    message: `what answers at the URL does not answer as RabbitMQ's management API does (${status})`,
    help: live.unreachableHelp,
  });
}
