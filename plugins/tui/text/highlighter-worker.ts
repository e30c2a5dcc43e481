/** The thread that colours code: a model's text can keep the patterns of a language busy for a long time. */
import { parentPort } from "node:worker_threads";
import { colourCode } from "../../../kernel/kit/colours.ts";
import type { CodePiece, HighlightRequest } from "./highlighter.ts";

parentPort?.on("message", ({ text, language }: HighlightRequest) => {
  const html = colourCode(text, language);
  parentPort?.postMessage(html === undefined ? undefined : piecesIn(html));
});

const PART = /<span class="([^"]*)">|<\/span>|([^<]+)/g;

/** Flattens nested spans: text takes the kind of the innermost one around it. */
function piecesIn(html: string): readonly CodePiece[] {
  const pieces: CodePiece[] = [];
  const around: string[] = [];
  for (const [whole, classes, text] of html.matchAll(PART)) {
    if (classes !== undefined) around.push(classes.split(" ", 1)[0]?.replace(/^hljs-/, "") ?? "");
    else if (text === undefined) around.pop();
    else pieces.push({ text: readable(whole), kind: around.at(-1) ?? "" });
  }
  return pieces;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

const readable = (html: string) =>
  html.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity);
