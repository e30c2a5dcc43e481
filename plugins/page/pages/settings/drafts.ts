/** Unsaved changes of settings, kept while another page is open. Secrets stay in memory. */
import { useState } from "preact/hooks";
import type { Setting } from "../../state/wire.ts";

/** Values by name; null restores the default. */
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

/** Returns the text of the field: empty if the default applies. */
export function storedText({ source, value }: Setting): string {
  return source === "stored" ? (value ?? "") : "";
}

/** Drops a draft that equals the stored value. */
export function withDraft(drafts: Drafts, setting: Setting, text: string | null): Drafts {
  const { [setting.name]: _, ...others } = drafts;
  const isSame = setting.is_secret ? text === "" : (text ?? "") === storedText(setting);
  return isSame ? others : { ...others, [setting.name]: text === "" ? null : text };
}

/** Returns the value that would apply after saving. */
export function draftedValue(drafts: Drafts, setting: Setting | undefined): string {
  if (setting === undefined) return "";
  const draft = drafts[setting.name];
  if (draft === undefined) return setting.value ?? "";
  return draft ?? setting.default ?? "";
}
