/** Describes what a tool of an MCP server may do, in sentences an operator can approve. */
import { count } from "../describe.ts";
import type { ServerFile } from "./server-file.ts";

export function describeServer(file: ServerFile): string[] {
  const { rateLimit, limits } = file;
  return [
    ...describeTarget(file),
    `may be called up to ${count(rateLimit.perMinute, "time")} per minute and ${rateLimit.perHour} per hour`,
    `may take up to ${count(limits.timeoutSecs, "second")} per call and answer up to ${limits.answerBytes / 2 ** 20} MiB`,
  ];
}

function describeTarget({ target }: ServerFile): string[] {
  if (target.type === "http") {
    const { url, credential } = target;
    const whose = credential.perUser ? "each user's own " : "";
    const carries = credential.isNamed ? `, with ${whose}\`${credential.secretName}\`` : "";
    return [`sends what it is called with to the MCP server ${url}${carries}; others run it`];
  }
  const { command, env } = target;
  return [
    `runs the command "${command.join(" ")}" on this machine, outside of the sandbox: it can do everything that the user who runs Postern can`,
    env.length === 0
      ? "gets no environment variables"
      : `gets the environment variable${env.length === 1 ? "" : "s"} ${env.join(", ")}`,
  ];
}
