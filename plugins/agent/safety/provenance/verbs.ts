/** Whether the person asked for this kind of action: what they pointed to, they pointed to for something. */
import { stem, wordsOfName } from "../../models/builtin/words.ts";
import type { Said } from "./said.ts";

const ALIKE = [
  "delete remove erase trash discard drop",
  "cancel delete remove drop",
  "add append include insert put attach",
  "append add write put include",
  "create make new add set write start open",
  "share give send",
  "update change adjust edit modify set correct move",
  "edit change update adjust modify",
  "reschedule move shift change postpone",
  "move reschedule shift put",
  "send write email mail message post reply forward tell",
  "reply answer respond write send",
  "post publish write send",
  "reserve book",
  "book reserve",
  "pay send transfer refund",
  "schedule set plan book",
  "invite add ask",
  "rename call name change",
  "close end finish",
  "archive store keep",
  "save keep store write",
  "write save put",
  "set change make",
].map((line) => line.split(" ").map(stem));

export function isAskedFor(tool: string, said: Said): boolean {
  const stems = new Set([...said.asked].map(stem));
  return wordsOfName(tool)
    .map(stem)
    .some((verb) => {
      const alike = ALIKE.find(([first]) => first === verb);
      return alike?.some((one) => stems.has(one)) ?? false;
    });
}
