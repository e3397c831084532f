import { z } from "zod";

import { about, name } from "./schema-parts.ts";

/** The placeholders of each template for names. */
export const placeholders = {
  queue: ["system", "consumer"],
  dead: ["system", "consumer", "queue"],
  source: ["system", "source"],
  shared: ["system"],
} as const;

/** The form of a template. It allows an empty text, which is too short already. */
export function templatePattern(field: keyof typeof placeholders): RegExp {
  return new RegExp(`^(?:[^{}]|\\{(?:${placeholders[field].join("|")})\\})*$`);
}

export const templates = Object.keys(placeholders) as (keyof typeof placeholders)[];
/** The form of each template in words, by its pattern. */
export const templateTexts: Readonly<Record<string, string>> = Object.fromEntries(
  templates.map((field) => {
    const words = placeholders[field].map((each) => `{${each}}`).join(", ");
    const text = `a template with ${words.replace(/, ([^,]*)$/, " and $1")} as its only placeholders`;
    return [templatePattern(field).source, text];
  }),
);

/** The templates for names on the broker. */
export const names = z.strictObject({
  queue: about(
    name.regex(templatePattern("queue")).optional(),
    "The template for work queues, with the placeholders `{system}` and `{consumer}`. The default is `{system}.{consumer}`.",
    "q-{consumer}",
  ),
  dead: about(
    name.regex(templatePattern("dead")).optional(),
    "The template for dead queues, with the placeholders `{system}`, `{consumer}` and `{queue}`. The default is `{queue}.dead`.",
    "dlq-{consumer}",
  ),
  source: about(
    name.regex(templatePattern("source")).optional(),
    "The template for the exchanges or topics of sources, with the placeholders `{system}` and `{source}`. The default is `{system}.{source}`.",
    "ex-{source}",
  ),
  shared: about(
    name.regex(templatePattern("shared")).optional(),
    "The template for the beginning of the names of exchanges and queues that consumers share, such as tiers, with the placeholder `{system}`. The default is `{system}`. RabbitMQ only.",
    "retry-{system}",
  ),
});
