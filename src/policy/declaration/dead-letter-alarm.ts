import { z } from "zod";

import { watchedQueues } from "../frameworks.ts";
import { declarationRule } from "../rule.ts";
import { numberBudget } from "../settings.ts";

/** An alarm for dead letters. */
export const deadLetterAlarm = declarationRule({
  name: "dead-letter-alarm",
  description: "Somebody is told when dead letters wait.",
  severity: "high",
  tags: ["dead letters", "alarms"],
  framework: watchedQueues,
  why: "A dead queue that nobody watches is a slow way of deleting messages: unpaid invoices lie in it, safe, until their retention is over.",
  remediationSteps:
    "Set deadLetter.alarmAbove. On Amazon SQS the alarm is made with the queue; on RabbitMQ it is a promise that your monitoring has to keep.",
  config: z.object({ max: numberBudget(0, 100, "The highest number of waiting dead letters without an alarm.") }),
  judge({ retried }, { max }) {
    return retried.flatMap(({ consumer, retry: { alarmAbove } }) => {
      if (alarmAbove !== null && alarmAbove <= max) return [];
      return [
        {
          part: consumer,
          message:
            alarmAbove === null
              ? "no alarm is declared for its dead letters"
              : `the alarm for its dead letters goes off above ${alarmAbove}; the limit is ${max}`,
          help: `set consumers.${consumer}.deadLetter.alarmAbove to ${max} or less`,
        },
      ];
    });
  },
});
