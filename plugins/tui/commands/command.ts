/** What a slash command is, and what it works with. */
import type { Services, Tools } from "../../../kernel/plugin.ts";
import type { Conversation } from "../conversation.ts";
import type { Attaching } from "../files/attaching.ts";

/** What completing a line works with. */
export interface Completing {
  readonly models: { names(): readonly string[] };
}

export interface SlashParts extends Completing {
  readonly user: string;
  readonly conversation: Conversation;
  readonly agent: Services["agent"];
  readonly threads: Services["threads"];
  readonly tools: Tools | undefined;
  readonly jobs: Services["jobs"] | undefined;
  readonly memory: Services["memory"] | undefined;
  readonly attaching: Attaching;
  /** Puts a text into the clipboard of the person at the terminal, as far as the terminal allows it. */
  copy(text: string): void;
  quit(): void;
}

export interface SlashCommand {
  readonly about: string;
  /** What follows the name, as the help shows it. */
  readonly takes?: string;
  /** What the rest of the line could become. */
  complete?(rest: string, parts: Completing): readonly string[];
  /** Returns the note to show, in Markdown. */
  run(parts: SlashParts, rest: string): string | undefined | Promise<string | undefined>;
}

export type Commands = Readonly<Record<string, SlashCommand>>;

/** Where a command needs a thread and none is open. */
export const NO_THREAD =
  "There is no thread yet. Your first message starts one; */threads* lists the others.";
