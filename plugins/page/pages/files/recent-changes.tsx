import { useState } from "preact/hooks";
import { request } from "../../state/app.ts";
import type { ChangeSet } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { ChangeList, writerWords } from "../../widgets/change-set.tsx";

const words = text.files;

/** What was changed in the whole workspace, newest first; each set can be undone. */
export function RecentChanges({ onChanged }: { onChanged(): unknown }) {
  const [sets, setSets] = useState<readonly ChangeSet[]>();
  const open = async () => {
    const found = await request<{ sets: readonly ChangeSet[] }>("GET", "/api/workspace/log?limit=50");
    if (found) setSets(found.sets);
  };
  // An undo is shown with what it undid.
  const shown = sets?.filter(({ undoes }) => undoes === undefined);
  return (
    <details class="card" onToggle={({ currentTarget }) => currentTarget.open && void open()}>
      <summary>{words.recentChanges}</summary>
      {shown?.length === 0 && <p class="soft">{words.noChanges}</p>}
      <ol class="change-sets">
        {shown?.map((set) => (
          <li key={`${set.id} ${set.undone_by}`}>
            <span class="soft">
              {words.changeBy(set.at, writerWords(set.writer))}{" "}
              {set.writer.thread_id && (
                <a href={`#/chat/${set.writer.thread_id}`}>{text.versions.openThread}</a>
              )}
            </span>
            <ChangeList set={set} undo={text.basics.undo} onChanged={onChanged} />
          </li>
        ))}
      </ol>
    </details>
  );
}
