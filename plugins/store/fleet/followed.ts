/** What is read from the store once and kept until somebody changes it, on any node. */
import type { Changes } from "../../../kernel/vocabulary/store.ts";

export interface Followed<Value> {
  get(): Promise<Value>;
  /** For who has changed it and wants to see that at once. */
  forget(): void;
  close(): void;
}

/** `read` is given what it answered the last time. */
export function follow<Value>(
  changes: Changes,
  topic: string,
  read: (last: Value | undefined) => Promise<Value>,
): Followed<Value> {
  let last: Value | undefined;
  let reading: Promise<Value> | undefined;
  const forget = () => {
    reading = undefined;
  };
  return {
    get() {
      if (reading !== undefined) return reading;
      const mine = read(last).then((value) => {
        last = value;
        return value;
      });
      reading = mine;
      mine.catch(() => {
        if (reading === mine) forget();
      });
      return mine;
    },
    forget,
    close: changes.follow(topic, forget),
  };
}
