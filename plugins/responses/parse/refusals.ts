/** What the open door answers where the strict one fails the turn. */
import { Fault } from "../../../kernel/plugin.ts";

/** The same for another user's: that it exists is nobody's business. */
export const previousNotFound = (): Fault =>
  new Fault(
    "missing",
    "previous_response_not_found",
    '"previous_response_id" names no response of yours. Begin a new thread, or use the id of one that is there.',
    { param: "previous_response_id" },
  );

/** Its answer is what the next request would go on from. */
export const previousNotFinished = (): Fault =>
  new Fault(
    "invalid",
    "previous_response_not_finished",
    '"previous_response_id" names a background response that has not finished. Wait until its status is completed.',
    { param: "previous_response_id" },
  );
