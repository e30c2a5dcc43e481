import { useState } from "preact/hooks";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { update } from "../state/app.ts";
import { filesLink, undoSet } from "../state/files.ts";
import type { ChangeSet, UndoOutcome } from "../state/wire.ts";
import { dateTime } from "../text/language.ts";
import { text } from "../text/text.ts";
import { Button } from "./controls.tsx";

interface ChangeListProps {
  readonly set: ChangeSet;
  /** The label of the button: what is undone. */
  readonly undo: string;
  onChanged?(): unknown;
}

/** What a set changed, with a button that takes it back, or back again. */
export function ChangeList({ set, undo, onChanged }: ChangeListProps) {
  const [undoneBy, setUndoneBy] = useState(set.undone_by);
  const [conflicts, setConflicts] = useState<UndoOutcome["conflicts"]>([]);
  const isUndone = undoneBy !== undefined;
  const take = async (how?: "overwrite" | "skip") => {
    const outcome = await undoSet(undoneBy ?? set.id, how);
    if (outcome === undefined) return;
    setConflicts(how === undefined ? outcome.conflicts : []);
    const said = isUndone ? text.widgets.changesBack : text.widgets.changesUndone;
    if (outcome.set) setUndoneBy(isUndone ? undefined : outcome.set.id);
    else if (how !== undefined || outcome.conflicts.length === 0)
      update({ trouble: text.widgets.nothingToUndo });
    update({ announcement: outcome.set ? said : "" });
    await onChanged?.();
  };
  return (
    <>
      <ul class="changes">
        {set.changes.map(({ path, change, to, after }) => (
          <li key={`${change} ${path}`} class={isUndone ? "undone" : ""}>
            <span class="tag">{text.widgets.changes[change]}</span>{" "}
            {to ? (
              text.widgets.movedTo(
                <FileLink key="from" path={path} isThere={after > 0 && !isUndone} />,
                <FileLink key="to" path={to} isThere={!isUndone} />,
              )
            ) : (
              <FileLink path={path} isThere={after > 0 && !isUndone} />
            )}
          </li>
        ))}
        {set.is_cut && <li class="soft">{text.widgets.andMore}</li>}
      </ul>
      {conflicts.length > 0 ? (
        <Conflicts of={conflicts} onChoose={take} onLeave={() => setConflicts([])} />
      ) : (
        <span class="row">
          {isUndone && <span class="soft">{text.widgets.undone}</span>}
          <Button label={isUndone ? text.widgets.undoTheUndo : undo} class="small" onClick={() => take()} />
        </span>
      )}
    </>
  );
}

export function FileLink({ path, isThere = true }: { path: string; isThere?: boolean }) {
  const shown = <code dir="auto">{visibleLine(path)}</code>;
  return isThere ? <a href={filesLink(path)}>{shown}</a> : shown;
}

interface ConflictsProps {
  readonly of: UndoOutcome["conflicts"];
  onChoose(how: "overwrite" | "skip"): unknown;
  onLeave(): void;
}

function Conflicts({ of: conflicts, onChoose, onLeave }: ConflictsProps) {
  return (
    <div class="conflicts" role="alert">
      <p>{text.widgets.nothingUndoneYet}</p>
      <ul>
        {conflicts.map(({ path, by, at }) => (
          <li key={path}>
            <FileLink path={path} />, {writerWords(by)}, {dateTime(at)}
          </li>
        ))}
      </ul>
      <span class="row">
        <Button label={text.widgets.undoRest} onClick={() => onChoose("skip")} />
        <Button label={text.widgets.undoTheseToo} class="danger" onClick={() => onChoose("overwrite")} />
        <Button label={text.widgets.leaveEverything} onClick={onLeave} />
      </span>
    </div>
  );
}

export function writerWords({ kind, tool, channel }: ChangeSet["writer"]): string {
  if (kind === "model")
    return channel ? text.widgets.byModelOver(visibleLine(channel)) : text.widgets.byModel;
  if (kind === "tool") return text.widgets.byTool(visibleLine(tool ?? ""));
  return text.widgets.writers[kind];
}
