import { useEffect, useId, useRef, useState } from "preact/hooks";
import { text } from "../text/text.ts";

export interface Choice {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
}

interface SearchListProps<One extends Choice> {
  /** What the field is for. */
  readonly label: string;
  /** What is in the list. */
  readonly listLabel: string;
  readonly query: string;
  /** Those that fit the query. */
  readonly choices: readonly One[];
  /** The one that Enter takes before anything is typed. */
  readonly start?: number;
  onQuery(query: string): void;
  onChoose(choice: One): void;
}

/** A field and the list that it searches, for a modal: the keys move through the list while the field keeps the focus. */
export function SearchList<One extends Choice>(props: SearchListProps<One>) {
  const { label, listLabel, query, choices, start = 0, onQuery, onChoose } = props;
  const id = useId();
  const [at, setAt] = useState(start);
  const list = useRef<HTMLDivElement>(null);
  const active = Math.min(at, choices.length - 1);
  const type = (typed: string) => {
    onQuery(typed);
    setAt(0);
  };
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active, choices]);

  const onKeyDown = (event: KeyboardEvent) => {
    const last = choices.length - 1;
    const next = { ArrowDown: active === last ? 0 : active + 1, ArrowUp: active <= 0 ? last : active - 1 }[
      event.key
    ];
    const choice = choices[active];
    if (next !== undefined) setAt(next);
    else if (event.key === "Enter" && choice && !event.isComposing) onChoose(choice);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <input
        data-first
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={choices[active] && `${id}-${active}`}
        placeholder={label}
        autocomplete="off"
        dir="auto"
        value={query}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="choices" id={id} role="listbox" aria-label={listLabel} ref={list} tabIndex={-1}>
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the combobox's
          <div
            key={choice.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onClick={() => onChoose(choice)}
          >
            <span dir="auto">{choice.title}</span>
            <span class="soft">{choice.detail}</span>
          </div>
        ))}
      </div>
      <p class="soft" role="status">
        {choices.length === 0 ? text.frame.nothingMatches : ""}
      </p>
    </>
  );
}

/** True if each word of the query is in one of the texts. */
export function fitsQuery(query: string, ...texts: readonly string[]): boolean {
  const searched = texts.join(" ").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
