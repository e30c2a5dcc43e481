import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getState } from "../../state/app.ts";
import { ask, type ThreadPage, type ThreadRow } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { showModal } from "../../widgets/modal.tsx";
import { type Command, printedKeys } from "./keys.ts";

export function openPalette(commands: readonly Command[]): void {
  let chosen: Choice | undefined;
  showModal({
    title: text.frame.palette,
    class: "palette",
    content: (end) => (
      <Palette
        commands={commands}
        onChoose={(choice) => {
          chosen = choice;
          end();
        }}
      />
    ),
    // Runs after the dialog is closed, which would otherwise take the focus back.
    onClose: () => chosen?.run(),
  });
}

interface Choice {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  readonly keys?: string | undefined;
  run(): void;
}

// A search waits for a pause in typing.
const PAUSE_MS = 150;
const MAX_SHOWN = 30;

function Palette({ commands, onChoose }: { commands: readonly Command[]; onChoose(choice: Choice): void }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const threads = useThreads(query);
  const list = useRef<HTMLDivElement>(null);
  const choices = useMemo(() => choicesFor(query, commands, threads), [query, commands, threads]);
  const active = Math.min(at, choices.length - 1);
  const type = (text: string) => {
    setQuery(text);
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
        aria-label={text.frame.paletteSearch}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={choices[active] && `palette-${active}`}
        placeholder={text.frame.paletteSearch}
        autocomplete="off"
        dir="auto"
        value={query}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div
        class="choices"
        id="palette-list"
        role="listbox"
        aria-label={text.frame.commands}
        ref={list}
        tabIndex={-1}
      >
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the combobox's
          <div
            key={choice.id}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            onClick={() => onChoose(choice)}
          >
            <span dir="auto">{choice.title}</span>
            <span class="soft">
              {choice.keys === undefined ? choice.group : printedKeys(choice.keys).join(" ")}
            </span>
          </div>
        ))}
      </div>
      <p class="soft" role="status">
        {choices.length === 0 ? text.frame.nothingMatches : ""}
      </p>
    </>
  );
}

/** Returns the threads that the service finds for a query. */
function useThreads(query: string): readonly ThreadRow[] {
  const [found, setFound] = useState<readonly ThreadRow[]>([]);
  useEffect(() => {
    const q = query.trim();
    if (q === "") return setFound([]);
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const search = new URLSearchParams({ limit: String(MAX_SHOWN), q });
      const page = await ask<ThreadPage>("GET", `/api/threads?${search}`).catch(() => undefined);
      if (isCurrent && page) setFound(page.threads);
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query]);
  return found;
}

function choicesFor(
  query: string,
  commands: readonly Command[],
  found: readonly ThreadRow[],
): readonly Choice[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ title, group }: { title: string; group: string }) => {
    const text = `${group} ${title}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const actions = commands
    .filter((command) => command.isPossible?.() ?? true)
    .map(({ title, group, keys, run }) => ({ id: `${group} ${title}`, title, group, keys, run }));
  const listed = getState().threads.map(choiceOf).filter(fits);
  const known = new Set(listed.map(({ id }) => id));
  const others = found.map(choiceOf).filter(({ id }) => !known.has(id));
  return [...actions.filter(fits), ...listed, ...others].slice(0, MAX_SHOWN);
}

function choiceOf({ id, title }: ThreadRow): Choice {
  return {
    id,
    title,
    group: text.frame.thread,
    run: () => {
      location.hash = `#/chat/${id}`;
    },
  };
}
