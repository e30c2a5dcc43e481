/** The operator's skills as prompts: a host can put one at the head of a conversation of its own. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Caller, Services } from "../../../kernel/plugin.ts";
import type { Guarded } from "../guard.ts";
import { mayUse } from "../parts.ts";
import { pageOf } from "./paging.ts";

export interface PromptParts {
  readonly skills: Services["skills"];
  readonly caller: Caller;
}

export function servePrompts({ handle }: Guarded, { skills, caller }: PromptParts): void {
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
