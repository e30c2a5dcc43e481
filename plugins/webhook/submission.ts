/** The body of `POST /webhook` (§2.2): bytes in, a job to submit out, or a fault that names the field. */
import { parseJson } from "../../kernel/net/body.ts";
import { Fault, type NewJob } from "../../kernel/plugin.ts";
import { compileCheck } from "../../kernel/vocabulary/schema/check.ts";
import { describeMistake, type Mistake } from "../../kernel/vocabulary/schema/mistake.ts";
import { webhookIdentity } from "../../kernel/vocabulary/user.ts";

const LONGEST_NAME = 256;
// What walks metadata later, down to JSON.stringify, recurses: 64 KB of brackets would overflow its stack.
const DEEPEST_METADATA = 32;

interface Body {
  readonly user_id: string;
  readonly message: string;
  // Many serialisers write an optional field that is not there as null.
  readonly conversation_id?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

const NAME = {
  pattern: `^(?=.*\\S)[^\\u0000-\\u001f\\u007f]{1,${LONGEST_NAME}}$`,
  refusal: `must be a string of 1 to ${LONGEST_NAME} characters, none of them a control character`,
};

const checkBody = compileCheck({
  type: "object",
  required: ["user_id", "message"],
  properties: {
    user_id: { type: "string", ...NAME },
    message: {
      type: "string",
      pattern: "\\S",
      refusal: "must be a string that is not blank",
      // SQLite's text functions end at the first NUL, so a message with one could not be found again.
      allOf: [{ type: "string", pattern: "^[^\\u0000]*$", refusal: "must not contain NUL characters" }],
    },
    conversation_id: { type: ["string", "null"], ...NAME },
    metadata: { type: ["object", "null"] },
  },
});

const utf8 = new TextDecoder("utf-8", { fatal: true });

export interface Submission extends NewJob {
  /** Whom the sender named. */
  readonly userId: string;
}

export function parseSubmission(bytes: Buffer): Submission {
  const body = parseBody(bytes);
  const { user_id: userId, message } = body;
  const conversation = body.conversation_id ?? undefined;
  const metadata = body.metadata ?? undefined;
  if (isDeeper(metadata, DEEPEST_METADATA))
    throw invalid({
      path: "metadata",
      problem: `must not be nested deeper than ${DEEPEST_METADATA} levels`,
    });
  return {
    channel: "webhook",
    userId,
    user: webhookIdentity(userId),
    message,
    ...(conversation !== undefined && { conversation }),
    ...(metadata !== undefined && { metadata }),
  };
}

function parseBody(bytes: Buffer): Body {
  let body: unknown;
  try {
    body = parseJson(utf8.decode(bytes));
  } catch {
    throw new Fault("invalid", "invalid_json", "The body is not JSON in UTF-8.");
  }
  const [mistake] = checkBody(body);
  if (mistake !== undefined) throw invalid(mistake);
  return body as Body;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function invalid(mistake: Mistake): Fault {
  const words = `${describeMistake(mistake, "The body")}.`;
  return mistake.path === ""
    ? new Fault("invalid", "invalid_body", words)
    : new Fault("invalid", "invalid_field", words, { param: mistake.path });
}
