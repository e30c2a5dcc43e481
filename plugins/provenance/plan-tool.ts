/** The tool by which a model states several changing calls before it makes them. Its calls are judged where all others are. */
import type { OwnTool } from "../agent/services.ts";
import { PLAN_SCHEMA, PLAN_TOOL } from "./call/plan.ts";

const DESCRIPTION = `Asks the user once about several steps that change something, instead of once for each. Use it before the first of two or more such calls, after you have read what you need for them. List the calls in order, with the params you will use, exactly as you will use them. For a value that only an earlier step's answer gives, write {{1.order_id}}: the field order_id of what step 1 answers. Leave out a param that you can only look up in between. Afterwards make the calls as stated; anything else is asked about by itself.`;

const AGREED =
  "The user agreed to these steps. Make the calls now, exactly as stated; anything else is asked about by itself.";
const NOT_ASKED =
  "Nothing in these steps has to be asked about as things are now, so nobody was asked. Make the calls.";

export const planTool: OwnTool = {
  name: PLAN_TOOL,
  effect: "reads",
  description: DESCRIPTION,
  schema: PLAN_SCHEMA,
  needsPerson: true,
  judged: {},
  isOffered: ({ isTalk = true, changes = false, delegating }) =>
    isTalk && changes && delegating?.task === undefined,
  run: async (_, { isApproved = false }) => ({ status: "ok", output: isApproved ? AGREED : NOT_ASKED }),
};
