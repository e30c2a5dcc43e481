/** The fenced blocks of an answer, also those in lists and quotes, as they are to be copied. */
import { lexer, type Tokens, walkTokens } from "marked";
import { cutMarkdown } from "../../../kernel/kit.ts";

export function codeBlocks(text: string): readonly string[] {
  return cutMarkdown(text).flatMap((piece) => {
    if (piece.type === "code") return [piece.text];
    if (piece.type === "plain") return [];
    const found: string[] = [];
    void walkTokens(lexer(piece.raw), (token) => {
      if (token.type === "code") found.push((token as Tokens.Code).text);
    });
    return found;
  });
}
