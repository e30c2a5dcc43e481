import { plural } from "../language.ts";

/** What the page says when requests fail or something was done. */
export const state = {
  unreachable: "Cannot reach Postern. Your draft is saved; try again when the connection is back.",
  uploadInterrupted: "The upload was interrupted. Remove it and try again.",
  cancelled: "Cancelled.",
  tryAgainIn: (words: string, seconds: string) => `${words} (try again in ${seconds} s)`,
  showingVersion: "Showing another version.",
  earlierLoaded: (count: number) =>
    plural(count, { one: "# earlier turn loaded above.", other: "# earlier turns loaded above." }),
  declined: "Declined.",
  done: "Done.",
  answering: "Postern is answering.",
  stopped: "Stopped.",
  complete: "The answer is complete.",
  failed: (why: string) => `The answer failed: ${why}`,
  hasQuestion: (server: string) => `${server} has a question for you.`,
  waiting: (why: string) => `Postern is waiting for your decision${why === "" ? "." : `: ${why}`}`,
  notifications: {
    waiting: "Waiting for you",
    failed: "The answer failed",
    ready: "The answer is ready",
  },
};
