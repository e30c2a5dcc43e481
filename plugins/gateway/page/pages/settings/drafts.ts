/** What was typed and not saved yet: it survives a look at another page. Secrets stay in memory and go nowhere else. */
import { useState } from "preact/hooks";
import type { Setting } from "../../state/wire.ts";

/** By name; null goes back to the default. */
export type Drafts = Readonly<Record<string, string | null>>;

let kept: Drafts = {};

export function useDrafts(): readonly [Drafts, (drafts: Drafts) => void] {
  const [drafts, setDrafts] = useState(kept);
  return [
    drafts,
    (next) => {
      kept = next;
      setDrafts(next);
    },
  ];
}

/** What its field shows: nothing where the default counts. */
export function storedText({ source, value }: Setting): string {
  return source === "stored" ? (value ?? "") : "";
}

/** Without those that say what is stored already. */
export function withDraft(drafts: Drafts, setting: Setting, text: string | null): Drafts {
  const { [setting.name]: _, ...others } = drafts;
  const isSame = setting.is_secret ? text === "" : (text ?? "") === storedText(setting);
  return isSame ? others : { ...others, [setting.name]: text === "" ? null : text };
}

/** The value that would count. */
export function draftedValue(drafts: Drafts, setting: Setting | undefined): string {
  if (setting === undefined) return "";
  const draft = drafts[setting.name];
  if (draft === undefined) return setting.value ?? "";
  return draft ?? setting.default ?? "";
}
