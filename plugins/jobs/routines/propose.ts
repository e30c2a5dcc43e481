/** The agent proposes a routine; only a person's yes makes it. */

import { ROUTINE_PROPOSE } from "../../../kernel/kit/tools.ts";
import { Fault, reason, type ToolOutcome } from "../../../kernel/plugin.ts";
import type { OwnTool, OwnToolContext } from "../../agent/services.ts";
import { assertOwner, assertText, MAX_TEXT_LENGTH } from "./bounds.ts";
import type { RunningRoutines } from "./routines.ts";
import { MAX_SCHEDULE_LENGTH } from "./schedule/words.ts";
import { machineZone } from "./schedule/zone.ts";

interface Proposal {
  readonly schedule: string;
  readonly text: string;
  readonly tz?: string;
}

/** Said of another day than the one on which the person agrees, these would mean another time. */
const RELATIVE = new Set(["today", "tomorrow", "next"]);

export function proposingTool(routines: Pick<RunningRoutines, "add" | "preview">): OwnTool {
  const zoneOf = ({ tz = machineZone() }: Proposal): string => tz;
  return {
    name: ROUTINE_PROPOSE,
    effect: "writes",
    words: { did: "proposed_routine", object: ["{schedule}"] },
    description: `Proposes a routine: a message that you get at the times the user agrees to, such as "weekdays at 8:00", "every 2 hours", "2026-12-24 at 9:00" or cron. The user is asked.`,
    schema: {
      type: "object",
      properties: {
        schedule: { type: "string", minLength: 1, maxLength: MAX_SCHEDULE_LENGTH },
        text: {
          type: "string",
          minLength: 1,
          maxLength: MAX_TEXT_LENGTH,
          description: "What to do each time, in full: nothing of this conversation is known then",
        },
        tz: {
          type: "string",
          maxLength: 64,
          description: "Such as Europe/Berlin",
        },
      },
      required: ["schedule", "text"],
      additionalProperties: false,
    },
    needsPerson: true,
    refuse(params, context) {
      const proposal = params as Proposal;
      try {
        assertAllowed(context);
        assertText(proposal.text);
        const [first = ""] = proposal.schedule.trim().toLowerCase().split(/\s/);
        if (RELATIVE.has(first))
          return failed("bad_schedule", `Give the date instead of "${first}", such as "2026-12-24 at 9:00".`);
        routines.preview(proposal.schedule, zoneOf(proposal));
        return undefined;
      } catch (error) {
        return failed(error instanceof Fault ? error.code : "tool_failed", reason(error));
      }
    },
    asks(params) {
      const proposal = params as Proposal;
      const tz = zoneOf(proposal);
      const { words, firings } = routines.preview(proposal.schedule, tz);
      const delay = proposal.schedule.trim().toLowerCase().startsWith("in ");
      const when = delay ? `once, ${proposal.schedule.trim().slice(3)} after you agree` : `${words} (${tz})`;
      const often = firings.length > 1 ? "until you pause or remove it" : "once";
      return [
        `${when}: ${proposal.text.trim()}`,
        `runs as if you had said this yourself, ${often}; nobody can be asked then, so what needs your approval is not done`,
      ];
    },
    async run(params, context) {
      const proposal = params as Proposal;
      try {
        const made = await routines.add({ ...proposal, user: context.user, tz: zoneOf(proposal) });
        const { id, words, tz, nextAt } = made;
        return { status: "ok", output: JSON.stringify({ id, schedule: words, tz, next_at: nextAt ?? null }) };
      } catch (error) {
        if (error instanceof Fault) return failed(error.code, error.message);
        throw error;
      }
    },
  };
}

function assertAllowed({ user, isScoped }: OwnToolContext): void {
  assertOwner(user);
  // It would run without the token, and beyond what the token may use.
  if (isScoped) {
    const message = "The token of this conversation has a scope, so no routine can be made with it.";
    throw new Fault("forbidden", "scoped_token", message);
  }
}

function failed(code: string, message: string): ToolOutcome {
  return { status: "error", code, message };
}
