/** Finds the inputs of a request besides text, and the models that can take them. */

import { readsAsText } from "../../../../kernel/kit/tools.ts";
import { type Attachment, Fault } from "../../../../kernel/plugin.ts";
import type { InputKind, Model, ModelAttachment, ModelMessage } from "../../../models/services.ts";
import { withNotes } from "../../context/attached-bytes.ts";
import type { Turn } from "../../services.ts";
import { namedIn } from "../../threads/attachments/stored.ts";

const MANY: Readonly<Record<InputKind, string>> = { image: "images", file: "files", audio: "audio" };

/** Those of the chain that take all that this request brings. Throws where there is none. */
export function ableModels(chain: readonly Model[], turn: Turn): readonly Model[] {
  if (bringsOnlyText(turn)) return chain;
  const brought = broughtBy(turn);
  const able = chain.filter(({ takes }) => brought.every(({ kind }) => takes.has(kind)));
  const [first] = chain;
  if (able.length > 0 || first === undefined) return able;
  const untaken = brought.filter(({ kind }) => !first.takes.has(kind));
  const lacking = [...new Set(untaken.map(({ kind }) => MANY[kind]))];
  const names = untaken.flatMap(({ name }) => (name === undefined ? [] : [JSON.stringify(name)]));
  const advice = names.length === 0 ? "Send text" : `Leave out ${names.join(", ")}`;
  const message = `The model ${first.name.name} does not take ${lacking.join(" or ")}. ${advice}, choose another model, or set MODEL_INPUTS if this one does take them.`;
  throw new Fault("invalid", "unsupported_input", message, { param: "input" });
}

export function bringsOnlyText(turn: Turn): boolean {
  return broughtBy(turn).length === 0;
}

function broughtBy(turn: Turn): readonly Attachment[] {
  return namedIn(turn).filter((attachment) => !readsAsText(attachment));
}

/** Earlier messages may carry what another model took: this one is told that it was there. */
export function withoutUntaken(messages: readonly ModelMessage[], { takes }: Model): readonly ModelMessage[] {
  const isTaken = (attachment: ModelAttachment) => readsAsText(attachment) || takes.has(attachment.kind);
  return messages.map((message) => {
    if (message.role === "assistant" || (message.attachments ?? []).every(isTaken)) return message;
    const { attachments = [] } = message;
    const notes = attachments.filter((attachment) => !isTaken(attachment)).map(noteOf);
    return withNotes({ ...message, attachments: attachments.filter(isTaken) }, notes);
  });
}

const ONE: Readonly<Record<InputKind, string>> = { image: "an image", file: "a file", audio: "audio" };

function noteOf({ kind, name }: ModelAttachment): string {
  const named = name === undefined ? "" : ` named ${JSON.stringify(name)}`;
  return `[Here was ${ONE[kind]}${named}, which this model does not take.]`;
}
