/** Tools that come among the items of `input`, as Codex sends all of its tools for some models. */
import { bytesOf, Type } from "../../../kernel/kit.ts";
import { compile } from "../wire/check.ts";
import { invalid } from "../wire/refusal.ts";
import { LARGEST_FIELD } from "./body.ts";
import type { GivenTool } from "./open-tools.ts";

const checkAdditional = compile(
  Type.Object({ tools: Type.Array(Type.Unknown(), { refusal: "must be an array of tools" }) }),
);

/** The tools of a request, those in its items included; nothing where it brings none. A later item's tool replaces an earlier one of its name. */
export function allTools(
  tools: readonly unknown[] | null | undefined,
  input: unknown,
): readonly GivenTool[] | undefined {
  const given = (tools ?? undefined)?.map((value, index) => ({ value, at: `tools[${index}]` }));
  const added = additionalTools(input);
  if (added.length === 0) return given;
  const byName = new Map(added.map((tool) => [keyOf(tool), tool]));
  const all = [...(given ?? []).filter((tool) => !byName.has(keyOf(tool))), ...byName.values()];
  // Nested too deeply, it has no size.
  if ((bytesOf(all.map(({ value }) => value)) ?? Number.POSITIVE_INFINITY) > LARGEST_FIELD)
    throw invalid("input", "tools_too_large", "The tools of a request must be at most 256 KiB as JSON.");
  return all;
}

function additionalTools(input: unknown): readonly GivenTool[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item: unknown, index) => {
    if (Object(item).type !== "additional_tools") return [];
    const { tools } = checkAdditional(item, `input[${index}]`);
    return tools.map((value, place) => ({ value, at: `input[${index}].tools[${place}]` }));
  });
}

/** A tool without a proper name is itself alone: it is refused by those who read it. */
function keyOf({ value, at }: GivenTool): string {
  const { type, name } = Object(value) as { readonly type?: unknown; readonly name?: unknown };
  if (typeof name !== "string") return at;
  return `${type === "namespace" ? "namespace" : "tool"} ${name}`;
}
