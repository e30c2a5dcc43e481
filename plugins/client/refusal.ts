import { kindOf } from "../../kernel/kit/http.ts";
import { isRecord, tryRecord } from "../../kernel/kit/text.ts";
import { Fault } from "../../kernel/plugin.ts";

/** The fault that a Postern elsewhere answered with. `status` alone counts where the body is somebody else's. */
export function readFault(host: string, status: number, body: string, retryAfter?: string): Fault {
  const { error } = tryRecord(body);
  const { message, code, param } = isRecord(error) ? error : {};
  const secs = Number(retryAfter);
  return new Fault(
    kindOf(status),
    typeof code === "string" ? code : "not_postern",
    typeof message === "string" ? message : `${host} answered with the status ${status}.`,
    {
      ...(typeof param === "string" && { param }),
      ...(Number.isInteger(secs) && secs > 0 && { retryAfterSecs: secs }),
    },
  );
}
