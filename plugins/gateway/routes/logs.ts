/** What the service wrote lately, for the operator. Known secrets were hidden before a line was written. */
import type { Kernel } from "../../../kernel/plugin.ts";
import { list, object } from "../api/schemas.ts";
import { type Route, route } from "../route.ts";

export function logRoutes(kernel: Kernel): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/api/logs",
      tag: "status",
      summary: "The newest log lines, oldest first",
      audience: "operator",
      answer: object({ lines: list({ type: "object" }) }),
      handle: () => ({ lines: kernel.recentLog().map((line) => JSON.parse(line) as unknown) }),
    }),
  ];
}
