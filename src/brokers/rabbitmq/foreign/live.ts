import { type Checked, type Diagnostic, diagnostic, refuseWhole, refusedFor } from "../../../diagnostics/diagnostic.ts";
import type { HttpReader, LiveRequest } from "../../broker.ts";
import { type Deployment, type QueueReport, placeOf } from "./deployment.ts";
import { argumentsOf } from "./import/arguments.ts";
import { type Entry, isEntry } from "../../../foreign/entries.ts";
import { parseInnerJson } from "../../../foreign/parse-json.ts";
import { nameSome } from "../../../foreign/finding.ts";
import { readDefinitionsData } from "./read-definitions.ts";

const tags = "management, policymaker, monitoring or administrator";
const grant = "rabbitmqctl set_permissions --vhost VHOST USER '^$' '^$' '^$' grants one that allows nothing";

/**
 * Reads a running RabbitMQ by the lists of the management API. `GET /api/definitions` requires an administrator, and
 * leaves out exclusive queues and internal exchanges. The lists have both. Source: `is_authorized/2` in
 * `rabbit_mgmt_wm_*.erl` (3.10.8, 4.3.5).
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

/** Reads the broker's report on each queue, too. It costs statistics, and a comparison needs them. */
export const liveWithReports: HttpReader<Deployment> = Object.freeze({
  ...live,
  requests: (virtualHost: string | null) => [
    ...requests(virtualHost),
    {
      name: "reports",
      path: `api/queues${virtualHost === null ? "" : `/${encodeURIComponent(virtualHost)}`}?columns=vhost,name,messages_dlx,effective_policy_definition`,
    },
  ],
});

/** The requests leave out statistics, because these cost a broker with many queues more than the lists themselves. */
function requests(virtualHost: string | null): readonly LiveRequest[] {
  const below = virtualHost === null ? "" : `/${encodeURIComponent(virtualHost)}`;
  const list = (name: string): LiveRequest => ({ name, path: `api/${name}${below}?disable_stats=true` });
  return [
    ...(virtualHost === null ? [{ name: "vhosts", path: "api/vhosts?disable_stats=true" }] : []),
    ...["exchanges", "queues", "bindings", "policies", "operator-policies"].map(list),
    // Only a policymaker and an administrator may read parameters. Source: `rabbit_mgmt_wm_parameters:is_authorized/2`.
    { name: "shovels", path: `api/parameters/shovel${below}`, isOptional: true },
  ];
}

function versionIn(text: string): string | null {
  const overview = parseInnerJson(text);
  return isEntry(overview) && typeof overview["rabbitmq_version"] === "string" ? overview["rabbitmq_version"] : null;
}

function read(answers: ReadonlyMap<string, string>, virtualHost: string | null): Checked<Deployment> {
  const lists = new Map([...answers].map(([name, text]) => [name, parseInnerJson(text)] as const));
  const listOf = (name: string): readonly unknown[] => {
    const list = lists.get(name);
    return Array.isArray(list) ? list : [];
  };
  const broken = [...lists].find(([name, list]) => name !== "overview" && !Array.isArray(list))?.[0];
  if (broken !== undefined) {
    const message = `the broker's answer to api/${broken} is no list`;
    return refuseWhole("RD407", message, "try again; a proxy may have cut the answer");
  }
  const seen = new Set(listOf("exchanges").map((each) => (isEntry(each) ? each["vhost"] : undefined)));
  // Every virtual host has exchanges of its own. A virtual host without any is hidden from this user.
  const hidden = namesIn(listOf("vhosts")).filter((name) => !seen.has(name));
  const visible = virtualHost === null ? namesIn(listOf("vhosts")).filter((name) => seen.has(name)) : [virtualHost];
  if (visible.length === 0)
    return refusedFor("RD408", {
      path: "",
      message: "the broker shows this user no virtual host",
      notes: [
        hidden.length === 0
          ? "the user has a permission in no virtual host"
          : `there are ${nameSome(hidden)}, and the user has a permission in none of them`,
      ],
      help: grant,
    });
  const definitions = {
    rabbitmq_version: versionIn(answers.get("overview") ?? ""),
    vhosts: visible.map((name) => ({ name })),
    exchanges: listOf("exchanges"),
    queues: listOf("queues"),
    bindings: listOf("bindings"),
    policies: listOf("policies"),
    parameters: [
      ...listOf("shovels"),
      ...listOf("operator-policies").map((each) =>
        isEntry(each) ? { vhost: each["vhost"], component: "operator_policy", name: each["name"], value: each } : each,
      ),
    ],
  };
  const reports = listOf("reports");
  const [hasReports, hasShovels] = [lists.has("reports"), lists.has("shovels")];
  lists.clear();
  const read = readDefinitionsData(definitions);
  const known = read.ok && !hasShovels ? { ...read, value: withoutShovels(read.value) } : read;
  const deployment = known.ok && hasReports ? { ...known, value: withReports(known.value, reports) } : known;
  if (!deployment.ok || hidden.length === 0) return deployment;
  return { ...deployment, warnings: [leftOut(hidden), ...deployment.warnings] };
}

function withoutShovels(deployment: Deployment): Deployment {
  const virtualHosts = deployment.virtualHosts.map((each) => ({ ...each, shovels: undefined }));
  return { ...deployment, virtualHosts };
}

function withReports(deployment: Deployment, reports: readonly unknown[]): Deployment {
  const byHost = Map.groupBy(reports.filter(isEntry), (each) => each["vhost"]);
  const reportOf = ({ effective_policy_definition: policy, messages_dlx: letters = 0 }: Entry): QueueReport => ({
    policy: policy === undefined ? null : argumentsOf(policy),
    keptLetters: Number(letters),
  });
  const virtualHosts = deployment.virtualHosts.map((each) => ({
    ...each,
    reports: new Map(byHost.get(each.name)?.map((report) => [String(report["name"]), reportOf(report)])),
  }));
  return { ...deployment, virtualHosts };
}

function namesIn(list: readonly unknown[]): readonly string[] {
  return list.flatMap((each) => (isEntry(each) && typeof each["name"] === "string" ? [each["name"]] : []));
}

/**
 * A user with the tag monitoring sees the names of all virtual hosts, but the content only of those with a permission.
 * The other lists are shorter without a sign. Source: `rabbit_mgmt_util:filter_vhost/3`, `list_visible_vhosts/2`.
 */
function leftOut(hidden: readonly string[]): Diagnostic {
  return diagnostic("RD409", {
    path: placeOf(hidden[0] ?? "", null),
    message: `left out, since this user has no permission there: ${nameSome(hidden)}`,
    notes: ["a tag alone shows the names of virtual hosts; reading their contents takes a permission in each"],
    help: grant,
  });
}

/**
 * Up to 4.1 the broker answers 401 to a user without permission, and from 4.2 on 404. Source:
 * `rabbit_web_dispatch_access_control:user_matches_vhost/2`.
 */
function refusal(status: number, text: string, virtualHost: string | null): Diagnostic {
  const answer = parseInnerJson(text);
  const reason = isEntry(answer) ? String(answer["reason"]) : "";
  const name = JSON.stringify(virtualHost);
  const refused = (message: string, help: string, note = `the user needs the tag ${tags}`): Diagnostic =>
    diagnostic("RD408", { path: "", message, notes: [note], help });
  if (status === 404 && virtualHost !== null)
    return refused(
      `there is no virtual host ${name}, or the user has no permission in it (404)`,
      grant,
      "the path of the URL is the name of a virtual host, and / is written %2F",
    );
  if (status !== 401 && status !== 403)
    return diagnostic("RD407", {
      path: "",
      message: `the program at the URL does not answer like RabbitMQ's management API (${status})`,
      help: live.unreachableHelp,
    });
  // Only known reasons are passed on, because any program may have sent the answer.
  switch (reason) {
    case "Not management user":
      return refused(
        "the broker knows the user, but the user has none of the tags that the management API requires (401)",
        "rabbitmqctl set_user_tags USER management",
      );
    case "User can only log in via localhost":
      return refused(
        "the broker lets this user in only from its own machine (401)",
        "use another user: guest is for localhost alone",
      );
    case "User not authorised to access virtual host":
      return refused(`the user has no permission in the virtual host ${name} (401)`, grant);
    default:
      return refused(
        `the broker refuses the user name or the password (${status})`,
        "check both; for a command they are in the URL, or in RABBITMQ_USERNAME and RABBITMQ_PASSWORD",
      );
  }
}
