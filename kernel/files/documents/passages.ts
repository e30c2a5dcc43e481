/** What a document says, in order and with its places, up to as much text as is wanted of it. */

export interface Passage {
  readonly text: string;
  /** From 1: the page of a PDF, or the slide. */
  readonly page?: number;
  /** The heading that the passage stands under; it is part of the text of the first passage there. */
  readonly heading?: string;
  /** As a spreadsheet names them: `Prices!A1:F40`. */
  readonly cells?: string;
}

export type Place = Omit<Passage, "text">;

/** Why a document is not read. */
export type Trouble =
  | "archive"
  | "binary"
  | "broken"
  | "empty"
  | "large"
  | "memory"
  | "nested"
  | "password"
  | "pictures";

export class Unreadable extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble) {
    super(trouble);
    this.trouble = trouble;
  }
}

/** Thrown once there is as much text as is wanted: the rest is not read. */
export class Enough extends Error {}

export type Passages = ReturnType<typeof createPassages>;

export function createPassages(maxLength: number) {
  const all: Passage[] = [];
  let length = 0;
  return {
    all,
    add(text: string, place: Place = {}): void {
      if (text.trim() === "") return;
      const room = maxLength - length;
      all.push({ text: text.slice(0, room).toWellFormed(), ...place });
      length += text.length;
      if (length >= maxLength) throw new Enough();
    },
  };
}
