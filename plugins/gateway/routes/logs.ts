/** What the service wrote lately, for the operator. Known secrets were hidden before a line was written. */
import type { Kernel } from "../../../kernel/plugin.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { type Route, route } from "../route.ts";

export function logRoutes(kernel: Kernel): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/api/logs",
      tag: "status",
      summary: "List the newest log lines, oldest first",
      audience: "operator",
      answer: Type.Object({ lines: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
      handle: () => ({
        lines: kernel.recentLog().map((line) => JSON.parse(line) as Record<string, unknown>),
      }),
    }),
  ];
}
