import { dateTime, plural } from "../language.ts";

/** The queue of messages that programs sent. */
export const jobs = {
  job: "Job",
  all: "All jobs",
  status: "Status",
  statuses: { "": "All", queued: "Queued", running: "Running", completed: "Completed", failed: "Failed" },
  states: {
    queued: "queued",
    running: "running",
    completed: "completed",
    failed: "failed",
    cancelled: "cancelled",
  } as Readonly<Record<string, string>>,
  waitsFor: (what: string) => `waits for ${what}`,
  columns: { created: "Created", user: "User", status: "Status", question: "Question and answer" },
  noText: "(no text)",
  earlier: "Earlier jobs",
  none: "No jobs yet",
  noneNote: "A job is a message that a program sends to the webhook. It appears here with its answer.",
  noneOperator: "Add an integration under Webhooks first.",
  openWebhooks: "Open Webhooks",
  noneOf: "No job has this status.",
  question: "Question",
  answer: "Answer",
  details: "Details",
  again: "Run again",
  cancel: "Cancel",
  openThread: "Open the thread",
  notPaired: "The identity that sent it is not paired yet: see Webhooks.",
  noAnswer: "No answer yet.",
  facts: {
    job: "Job",
    user: "User",
    conversation: "Conversation",
    thread: "Thread",
    created: "Created",
    started: "Started",
    completed: "Completed",
    attempts: "Attempts",
    error: "Error",
    callback: "Callback",
  },
  callback: {
    waiting: "sent when the job completes",
    retrying: (attempts: number, why: string, next: string) =>
      `failed after ${tries(attempts)} (${why}); next attempt ${next && dateTime(next)}`,
    delivered: (attempts: number) => `delivered after ${tries(attempts)}`,
    failed: (attempts: number, why: string) => `given up after ${tries(attempts)} (${why})`,
  },
};

function tries(count: number): string {
  return plural(count, { one: "# attempt", other: "# attempts" });
}
