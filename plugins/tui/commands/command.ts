/** The shape of a slash command, and what it works with. */
import type { Conversation } from "../conversation/conversation.ts";
import type { PendingFiles } from "../files/pending-files.ts";
import type { Terminal } from "../services.ts";

export interface CompletionParts {
  modelNames(): readonly string[];
  /** The newest threads, as far as they have been read. */
  threadTitles(): readonly string[];
  /** The paths of the workspace, as far as they have been read; a folder ends with a slash. */
  keptPaths(): readonly string[];
}

export interface SlashParts extends CompletionParts {
  readonly terminal: Terminal;
  readonly conversation: Conversation;
  readonly pendingFiles: PendingFiles;
  /** What runs here, in Markdown. */
  describeService(): string;
  /** Puts a text into the clipboard of the person at the terminal, as far as the terminal allows it. */
  copy(text: string): void;
  quit(): void;
}

export interface SlashCommand {
  readonly about: string;
  /** The arguments, as the help shows them. */
  readonly takes?: string;
  /** Returns what the rest of the line could become. */
  complete?(rest: string, parts: CompletionParts): readonly string[];
  /** Returns the note to show, in Markdown. */
  run(parts: SlashParts, rest: string): string | undefined | Promise<string | undefined>;
}

export type Commands = Readonly<Record<string, SlashCommand>>;
