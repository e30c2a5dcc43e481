/** What a request brings besides text, and the models that can be shown it. */

import {
  type InputKind,
  type Model,
  type ModelAttachment,
  type ModelMessage,
  readsAsText,
} from "../../../../kernel/kit.ts";
import { type Attachment, Fault, type Turn } from "../../../../kernel/plugin.ts";

const MANY: Readonly<Record<InputKind, string>> = { image: "images", file: "files", audio: "audio" };

/** Those of the chain that take all that this request brings. Throws where there is none. */
export function ableModels(chain: readonly Model[], turn: Pick<Turn, "input" | "history">): readonly Model[] {
  if (bringsOnlyText(turn)) return chain;
  const brought = broughtBy(turn);
  const able = chain.filter(({ takes }) => brought.every(({ kind }) => takes.has(kind)));
  const [first] = chain;
  if (able.length > 0 || first === undefined) return able;
  const untaken = brought.filter(({ kind }) => !first.takes.has(kind));
  const lacking = [...new Set(untaken.map(({ kind }) => MANY[kind]))];
  throw new Fault(
    "invalid",
    "unsupported_input",
    `The model ${first.name.name} does not take ${lacking.join(" or ")}. ${adviceFor(untaken)}, choose another model, or set MODEL_INPUTS if this one does take them.`,
    { param: "input" },
  );
}

function adviceFor(untaken: readonly Attachment[]): string {
  const names = untaken.flatMap(({ name }) => (name === undefined ? [] : [JSON.stringify(name)]));
  return names.length === 0 ? "Send text" : `Leave out ${names.join(", ")}`;
}

export function bringsOnlyText(turn: Pick<Turn, "input" | "history">): boolean {
  return broughtBy(turn).length === 0;
}

function broughtBy({ input, history = [] }: Pick<Turn, "input" | "history">): readonly Attachment[] {
  const own =
    input.type === "message" ? [input] : input.type === "tool_outputs" ? [input, ...input.outputs] : [];
  return [...own, ...history]
    .flatMap((item) => ("attachments" in item ? (item.attachments ?? []) : []))
    .filter((attachment) => !readsAsText(attachment));
}

/** Earlier messages may carry what another model took: this one is told that it was there. */
export function withoutUntaken(messages: readonly ModelMessage[], { takes }: Model): readonly ModelMessage[] {
  const isTaken = (attachment: ModelAttachment) => readsAsText(attachment) || takes.has(attachment.kind);
  return messages.map((message) => {
    if (message.role === "assistant" || (message.attachments ?? []).every(isTaken)) return message;
    const { attachments = [] } = message;
    const kept = attachments.filter(isTaken);
    const notes = attachments.filter((attachment) => !isTaken(attachment)).map(noteOf);
    const add = (text: string) => [text, ...notes].filter((line) => line !== "").join("\n");
    return message.role === "user"
      ? { ...message, text: add(message.text), attachments: kept }
      : { ...message, output: add(message.output), attachments: kept };
  });
}

function noteOf({ kind, name }: ModelAttachment): string {
  return `[Here was ${kind === "image" ? "an image" : kind === "audio" ? "audio" : "a file"}${name === undefined ? "" : ` named ${JSON.stringify(name)}`}, which this model does not take.]`;
}
