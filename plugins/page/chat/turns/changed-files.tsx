import { useEffect, useRef, useState } from "preact/hooks";
import { changesOf } from "../../state/files.ts";
import { isOver, type TurnView } from "../../state/turn-view.ts";
import type { ChangeSet } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { ChangeList } from "../../widgets/change-set.tsx";

/** A longer list is folded. */
const MAX_OPEN = 5;

/** The files that an answer changed, with a button that undoes it. */
export function ChangedFiles({ turn }: { turn: TurnView }) {
  const [set, setSet] = useState<ChangeSet>();
  const wasRunning = useRef(!isOver(turn));
  const mayHave = isOver(turn) && turn.outcomes.size > 0;
  useEffect(() => {
    if (!mayHave) return;
    let isGone = false;
    void changesOf(turn.id, wasRunning.current).then((found) => isGone || setSet(found));
    return () => {
      isGone = true;
    };
  }, [turn.id, mayHave]);
  if (!set) return null;
  const { length } = set.changes;
  return (
    <details class="changed-files" open={length <= MAX_OPEN}>
      <summary>{set.is_cut ? text.chat.changed.moreThan(length) : text.chat.changed.files(length)}</summary>
      <ChangeList set={set} undo={text.chat.changed.undo} />
    </details>
  );
}
