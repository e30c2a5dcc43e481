/** The items of `input` through the open door: all that clients send, each kept, carried or skipped. */
import { Type } from "../../../kernel/kit.ts";
import { compile } from "../wire/check.ts";
import type { WireTool } from "../wire/format.ts";
import { invalid } from "../wire/refusal.ts";
import { customParams, offeredName } from "../wire/tool-names.ts";
import { OpenContent, parseContent } from "./content.ts";
import { CallId, type InputItem, Role } from "./items.ts";
import { maybe } from "./request.ts";

const name = Type.String({ minLength: 1, maxLength: 128, refusal: "must be the tool's name" });
const namespace = maybe(Type.String({ maxLength: 128, refusal: "must be a namespace's name" }));
const sealed = maybe(Type.String({ refusal: "must be a text" }));

const Message = Type.Object({ role: Role, content: Type.Unknown() });
const FunctionCall = Type.Object({
  call_id: CallId,
  name,
  namespace,
  arguments: Type.String({ refusal: "must be a JSON text" }),
});
const CustomCall = Type.Object({
  call_id: CallId,
  name,
  namespace,
  input: Type.String({ refusal: "must be a text" }),
});
const CallOutput = Type.Object({ call_id: CallId, output: Type.Unknown() });
const Reference = Type.Object({ id: Type.String({ refusal: "must be an item's id" }) });
const Sealed = Type.Object({ encrypted_content: sealed });

/** What clients keep of tools that others run: no turn here can use it. And tools, which are read with those of the request. */
const SKIPPED: ReadonlySet<string> = new Set([
  "additional_tools",
  "apply_patch_call",
  "apply_patch_call_output",
  "code_interpreter_call",
  "compaction_trigger",
  "computer_call",
  "computer_call_output",
  "configuration_update",
  "file_search_call",
  "image_generation_call",
  "local_shell_call",
  "local_shell_call_output",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_call",
  "mcp_list_tools",
  "program",
  "program_output",
  "shell_call",
  "shell_call_output",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
]);

/** For the OpenAPI document. */
export const OpenItem = Type.Union(
  [
    Type.Object({ type: Type.Optional(Type.Literal("message")), role: Role, content: OpenContent }),
    Type.Object({ type: Type.Literal("function_call"), ...FunctionCall.properties }),
    Type.Object({ type: Type.Literal("custom_tool_call"), ...CustomCall.properties }),
    Type.Object({
      type: Type.Enum(["function_call_output", "custom_tool_call_output"]),
      call_id: CallId,
      output: OpenContent,
    }),
    Type.Object({ type: Type.Optional(Type.Literal("item_reference")), ...Reference.properties }),
    Type.Object({ type: Type.Enum(["reasoning", "compaction"]), ...Sealed.properties }),
    Type.Object({ type: Type.Enum([...SKIPPED], { description: "Skipped" }) }),
  ],
  { $id: "OpenResponseInputItem" },
);

const checkMessage = compile(Message);
const checkCall = compile(FunctionCall);
const checkCustom = compile(CustomCall);
const checkOutput = compile(CallOutput);
const checkReference = compile(Reference);
const checkSealed = compile(Sealed);
const checkObject = compile(
  Type.Object(
    { type: Type.Optional(Type.Unknown()), role: Type.Optional(Type.Unknown()) },
    { refusal: "must be an item: an object" },
  ),
);

/** `tools`: the request's, whose names in earlier calls are the caller's. */
export function parseOpenItem(value: unknown, at: string, tools: readonly WireTool[]): InputItem {
  const item = checkObject(value, at);
  const type = item.type ?? (item.role === undefined ? "item_reference" : "message");
  const callName = (given: { readonly name: string; readonly namespace?: string | null }): string => {
    const space = given.namespace ?? undefined;
    const known = offeredName(tools, {
      name: given.name,
      ...(space !== undefined && { namespace: space }),
    });
    return known ?? (space === undefined ? given.name : `${space}__${given.name}`);
  };
  switch (type) {
    case "message": {
      const { role, content } = checkMessage(value, at);
      return { type: "message", role, ...parseContent(content, `${at}.content`) };
    }
    case "function_call": {
      const call = checkCall(value, at);
      return { type: "function_call", call: call.call_id, name: callName(call), params: call.arguments };
    }
    case "custom_tool_call": {
      const call = checkCustom(value, at);
      return {
        type: "function_call",
        call: call.call_id,
        name: callName(call),
        params: customParams(call.input),
      };
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const { call_id, output } = checkOutput(value, at);
      const { text, attachments } = parseContent(output, `${at}.output`);
      return {
        type: "function_call_output",
        call: call_id,
        output: text,
        ...(attachments && { attachments }),
      };
    }
    case "item_reference":
      return { type: "item_reference", id: checkReference(value, at).id };
    case "reasoning":
    case "compaction": {
      const { encrypted_content } = checkSealed(value, at);
      if (!encrypted_content) return { type: "skipped" };
      return {
        type: "sealed",
        holds: type === "reasoning" ? "reasoning" : "summary",
        sealed: encrypted_content,
      };
    }
    default:
      if (typeof type === "string" && SKIPPED.has(type)) return { type: "skipped" };
      throw invalid(
        `${at}.type`,
        "invalid_type",
        `"${at}.type" must be the type of an input item, such as message, function_call or function_call_output.`,
      );
  }
}
