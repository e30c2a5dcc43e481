/** Who made a tool, as far as its signatures prove it. */
import type { ToolOrigin } from "../../kernel/vocabulary/tools/origin.ts";
import type { Evidence, SignatureVerdict } from "./evidence.ts";

export type JudgeSignature = (
  origin: ToolOrigin,
  evidence: Evidence | undefined,
) => Promise<SignatureVerdict>;

export const judgeSignature: JudgeSignature = async ({ reference }) => ({
  status: "unsigned",
  sentence: `${reference} is not signed`,
});
