/** What the service wrote lately, for the operator. Known secrets were hidden before a line was written. */
import { LOG_LEVELS, matcherOf, Type } from "../../../../kernel/kit.ts";
import type { Kernel, Node } from "../../../../kernel/plugin.ts";
import { type Route, route } from "../../route.ts";

const PATH = "/api/logs";
const MOST = 500;
const word = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));
const level = Type.Enum([...LOG_LEVELS.slice(0, -1)], { description: "And what is more severe" });

export function logRoutes(kernel: Kernel, node: Pick<Node, "id">): readonly Route[] {
  return [
    route({
      method: "get",
      path: PATH,
      tag: "status",
      summary: "List the newest log lines of the node that answers, oldest first",
      audience: "operator",
      query: Type.Object({
        level: Type.Optional(level),
        text: word,
        turn: word,
        user: word,
        after: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: "`last` of an earlier answer of this node: only lines since",
          }),
        ),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST })),
      }),
      answer: Type.Object({
        lines: Type.Array(Type.Record(Type.String(), Type.Unknown())),
        last: Type.Integer({ description: "The number of the newest line, whether it is listed or not" }),
        node: Type.String(),
      }),
      handle({ query: { after = 0, limit = MOST, ...query } }) {
        const recent = kernel.recentLog();
        const last = kernel.countLog();
        const matches = matcherOf(query as Parameters<typeof matcherOf>[0]);
        const lines: Record<string, unknown>[] = [];
        for (let at = recent.length - 1; at >= 0 && lines.length < limit; at--) {
          const number = last - (recent.length - 1 - at);
          if (number <= after) break;
          const line = recent[at] ?? "";
          if (!matches(line)) continue;
          const fields = JSON.parse(line) as Record<string, unknown>;
          // Whoever follows the log would see nothing but that.
          if (fields["path"] !== PATH) lines.unshift({ number, ...fields });
        }
        return { lines, last, node: node.id };
      },
    }),
  ];
}
