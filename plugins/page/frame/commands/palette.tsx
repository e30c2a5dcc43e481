import { useEffect, useMemo, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { getState } from "../../state/app.ts";
import { ask, type ThreadPage, type ThreadRow } from "../../state/wire.ts";
import { shortDate } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { showModal } from "../../widgets/modal.tsx";
import { type Choice, fitsQuery, SearchList } from "../../widgets/search-list.tsx";
import { type Command, printedKeys } from "./keys.ts";

export function openPalette(commands: readonly Command[]): void {
  let chosen: PaletteChoice | undefined;
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

interface PaletteChoice extends Choice {
  run(): void;
}

// A search waits for a pause in typing.
const PAUSE_MS = 150;
const MAX_SHOWN = 30;

interface PaletteProps {
  readonly commands: readonly Command[];
  onChoose(choice: PaletteChoice): void;
}

function Palette({ commands, onChoose }: PaletteProps) {
  const [query, setQuery] = useState("");
  const threads = useThreads(query);
  const choices = useMemo(() => choicesFor(query, commands, threads), [query, commands, threads]);
  return (
    <SearchList
      label={text.frame.paletteSearch}
      listLabel={text.frame.commands}
      {...{ query, choices, onChoose }}
      onQuery={setQuery}
    />
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
): readonly PaletteChoice[] {
  const actions = commands
    .filter(({ title, group, isPossible }) => fitsQuery(query, group, title) && (isPossible?.() ?? true))
    .map(({ title, group, keys, run }) => ({
      ...{ id: `${group} ${title}`, title, run },
      detail: keys === undefined ? group : printedKeys(keys).join(" "),
    }));
  const listed = getState()
    .threads.map(choiceOf)
    .filter(({ title, detail }) => fitsQuery(query, detail, title));
  const known = new Set(listed.map(({ id }) => id));
  const others = found.map(choiceOf).filter(({ id }) => !known.has(id));
  return [...actions, ...listed, ...others].slice(0, MAX_SHOWN);
}

function choiceOf({ id, title, match }: ThreadRow): PaletteChoice {
  return {
    id,
    title,
    detail: match ? `${shortDate(match.at)} · ${visibleLine(match.text)}` : text.frame.thread,
    run: () => {
      location.hash = `#/chat/${id}`;
    },
  };
}
