/** A question of a tool's server as lines. Its words are a stranger's, and are said to be. */
import { type Form, hintOf, type QuestionGate, say, stepsOf } from "../questions/question-form.ts";
import { hang, plain } from "./text/lines.ts";
import type { Palette } from "./text/palette.ts";

export function questionLines(
  gate: QuestionGate,
  form: Form | undefined,
  width: number,
  palette: Palette,
): string[] {
  const line = (text: string, indent = "    ") => hang(indent, indent, text, width);
  const server = plain(gate.server);
  const steps = stepsOf(gate);
  const lines = [
    ...hang(palette.warning("  ? "), "    ", palette.strong(`${server} has a question.`), width),
    ...line(
      palette.faint(
        `Asked by the server of the tool ${plain(gate.call.name)}. These are its words, and it gets your answer. Never give it a password.`,
      ),
    ),
  ];
  for (const { key, message, url } of gate.questions) {
    lines.push(...hang("    │ ", "    │ ", plain(message), width));
    if (url !== undefined) {
      const host = plain(URL.parse(url)?.host ?? "");
      lines.push(...line(`It asks you to visit a page at ${palette.strong(host)}:`), ...line(plain(url)));
    }
    for (const [at, { question, field }] of steps.entries()) {
      if (question !== key) continue;
      const label = plain(field.label);
      const isGiven = form !== undefined && at < form.values.length;
      const isCurrent = at === form?.values.length;
      const mark = isCurrent ? palette.person("  › ") : "    ";
      const value = isGiven ? say(form.values[at]) : hintOf(field);
      const text = `${isCurrent ? palette.strong(label) : label}: ${isGiven ? plain(value) : palette.faint(plain(value))}`;
      lines.push(...hang(mark, "    ", text, width));
      if (isGiven) continue;
      if (field.about) lines.push(...line(palette.faint(plain(field.about)), "      "));
      for (const [index, choice] of (field.choices ?? []).entries())
        lines.push(...hang(`      ${index + 1} `, "        ", plain(choice.label), width));
    }
  }
  if (form?.mistake !== undefined) lines.push(...line(palette.bad(plain(form.mistake))));
  return lines;
}
