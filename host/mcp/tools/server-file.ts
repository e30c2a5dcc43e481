/** The parser of servers' files, the rule for servers' names, and the file that `add` writes. */
import { createServerFileParser } from "../../../capabilities/servers/parse.ts";
import { compileCheck } from "../../../kernel/kit/schema.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { isAgentsPrefix } from "../../../kernel/kit/tools.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { NewMcpServer } from "../../wire.ts";

export const parseServerFile = createServerFileParser(compileCheck, visibleLine);

const NAME = /^[a-z0-9-]{1,32}$/;

export function checkServerName(name: string): void {
  const refuse = (why: string) => {
    throw new Fault("invalid", "server_name", `"${visibleLine(name)}" is not a valid server name: ${why}`, {
      param: "name",
      usage: true,
    });
  };
  if (!NAME.test(name)) refuse("use 1 to 32 lower-case letters, digits and hyphens");
  if (isAgentsPrefix(name))
    refuse(`the agent's own tools begin with it, so the model would not get its tools. Try ${name}-server`);
}

export function writeServerFile(given: NewMcpServer): string {
  const { url, privateHost, command, env = {}, token, perUser } = given;
  const names = Object.keys(env);
  const file = {
    url,
    private_host: privateHost || undefined,
    command,
    env: names.length > 0 ? names : undefined,
    credential:
      token !== undefined || perUser ? { secret_name: "token", per_user: perUser || undefined } : undefined,
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}
