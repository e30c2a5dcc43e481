/** The agent proposes a tool that it wrote; only the operator's yes installs it. */
import { hash } from "node:crypto";
import { TOOL_PROPOSE } from "../../kernel/kit/tools.ts";
import type { Origin } from "../../kernel/kit/turns.ts";
import { Fault, type ToolOutcome } from "../../kernel/plugin.ts";
import type { Drafts, ProposedTool } from "./drafts.ts";

interface Proposer {
  readonly user: string;
  /** The token behind the turn may not use everything. */
  readonly isScoped?: boolean;
}

/** What a proposal needs to know of the turn that makes it. */
interface ProposingContext extends Proposer {
  readonly thread: string;
  readonly signal?: AbortSignal;
  readonly delegating?: { notice(code: string, message: string): void };
  originsOf?(text: string): Promise<readonly Origin[]>;
}

const MAX_SOURCE_LENGTH = 64 * 1024;

const DESCRIPTION = `Proposes a new tool that you write, where none fits and it will be needed again. It is built, checked and tried with your examples; then the user is asked. The source is one TypeScript file that imports only postern:tool/…: export const tool = { description: () => text, schema: () => JSON text, execute: ({ params }) => ({ output: text }) or ({ error: text }) }, where params is JSON text, nothing is async, and nothing is thrown, not even for params that are wrong. For requests: import { httpRequest } from "postern:tool/host@0.1.0"; httpRequest(method, url, headersJson, body, timeoutMs) returns { status, body: Uint8Array }.`;

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 64 },
    source: { type: "string", minLength: 1, maxLength: MAX_SOURCE_LENGTH },
    capabilities: {
      type: "object",
      description:
        'Only what it needs, such as {"version":"0.1.0","http":{"allowlist":[{"host":"api.example.org","path_prefix":"/v1/","methods":["GET"]}]}}; {} to compute only',
    },
    examples: {
      type: "array",
      minItems: 2,
      maxItems: 2,
      items: {
        type: "object",
        properties: {
          params: { type: "object" },
          exchanges: {
            type: "array",
            maxItems: 20,
            items: { type: "object" },
            description:
              'Requests get these answers here: {"request":{"method":"GET","url":"…"},"reply":{"status":200,"body":"…"}}',
          },
        },
        required: ["params"],
        additionalProperties: false,
      },
    },
  },
  required: ["name", "source", "capabilities", "examples"],
  additionalProperties: false,
} as const;

/** The drafts are opened on first use: the compiler's parts come with them. */
export function proposingTool(
  openDrafts: () => Promise<Pick<Drafts, "draft" | "install">>,
  isOperator: (user: string) => Promise<boolean>,
) {
  /** Tools are there for everybody, and a token with a scope stands for less than its user. */
  const assertAllowed = async ({ user, isScoped }: Proposer): Promise<void> => {
    if (!(await isOperator(user)))
      throw new Fault("forbidden", "operator_only", "Only an operator can agree to a new tool.");
    if (isScoped)
      throw new Fault(
        "forbidden",
        "scoped_token",
        "The token of this conversation has a scope, so no tool can be installed with it.",
      );
  };
  return {
    name: TOOL_PROPOSE,
    effect: "writes" as const,
    words: { did: "proposed_tool" as const, object: ["{name}"] },
    description: DESCRIPTION,
    schema: SCHEMA,
    needsPerson: true,
    isOffered: async ({ user, isScoped }: Proposer) => !isScoped && (await isOperator(user)),
    async asks(params: unknown, context: ProposingContext) {
      await assertAllowed(context);
      const proposed = params as ProposedTool;
      const { draft } = await openDrafts();
      const { signal, delegating } = context;
      const progress = (words: string) => delegating?.notice("progress", words);
      const sentences = await draft(keyOf(proposed, context), proposed, { signal, progress });
      const origins = (await context.originsOf?.(JSON.stringify(proposed))) ?? [];
      return [...sentences, whoseWords(origins)];
    },
    async run(params: unknown, context: ProposingContext): Promise<ToolOutcome> {
      try {
        await assertAllowed(context);
        const { install } = await openDrafts();
        const { name, capabilities } = await install(keyOf(params as ProposedTool, context));
        const output = `Installed ${name} ${capabilities.version}. You can call it from the user's next message on.`;
        return { status: "ok", output };
      } catch (error) {
        if (error instanceof Fault) return { status: "error", code: error.code, message: error.message };
        throw error;
      }
    },
  };
}

/** What is installed was proposed in this thread, word for word. */
function keyOf(proposed: ProposedTool, { user, thread }: ProposingContext): string {
  return hash("sha256", JSON.stringify([user, thread, proposed]));
}

function whoseWords(origins: readonly Origin[]): string {
  if (origins.length === 0) return "no words of others are known in this conversation";
  const who = origins.map(({ kind, name }) => `${kind} ${name}`).join(", ");
  return `words of others were in this conversation when it was written: ${who}`;
}
