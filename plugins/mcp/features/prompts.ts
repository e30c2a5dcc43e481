/** The operator's skills as prompts: a host can begin a conversation of its own with one. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { mayUse } from "../parts.ts";
import type { Handlers } from "../protocol/handlers.ts";
import { pageOf } from "../protocol/paging.ts";
import type { CallParts } from "./tool-call.ts";

export function servePrompts(
  { handle }: Handlers,
  { skills, caller }: Pick<CallParts, "skills" | "caller">,
): void {
  const mayRead = mayUse(caller, "skill_load");

  handle("prompts/list", async ({ params }) => {
    const { page, next } = pageOf(mayRead ? await skills.list() : [], ({ name }) => name, params?.cursor);
    return { prompts: page.map(({ name, description }) => ({ name, description })), ...next };
  });

  handle("prompts/get", async ({ params: { name } }) => {
    const skill = mayRead ? await skills.read(name) : undefined;
    if (skill === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name}".`);
    return {
      description: skill.description,
      messages: [{ role: "user", content: { type: "text", text: skill.text } }],
    };
  });
}
