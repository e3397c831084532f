import type { Client } from "../../brokers/contract-pages.ts";

/**
 * Celery's task, run in the process of the plain client. Claims about Celery rest on its sources of August 2026.
 *
 * @param why paragraphs about its own retry, which cannot keep the contract
 */
export function celery(why: string, running: string): Client {
  return {
    title: "Python, Celery",
    evidence:
      "The statements about Celery's own retry come from the sources of Celery and kombu, and partly from a live broker. Redeliver's tests run the code with Celery 5.7.",
    text: [why, running],
    files: ["report/contract-page/tasks.py"],
  };
}
