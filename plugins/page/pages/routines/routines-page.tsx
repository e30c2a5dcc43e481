import CalendarClock from "lucide/dist/esm/icons/calendar-clock.mjs";
import Plus from "lucide/dist/esm/icons/plus.mjs";
import { useState } from "preact/hooks";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Routine } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Button } from "../../widgets/controls.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { AddRoutine } from "./add-routine.tsx";
import { RoutineCard } from "./routine-card.tsx";
import { localTime, outcomeOf, statusOf } from "./routine-words.ts";

const words = text.routines;
const EVERY_MS = 5000;

/** The routines; `shown` is the routine that the address names. */
export function RoutinesPage({ shown }: { readonly shown: string | undefined }) {
  return shown ? <RoutineCard key={shown} id={shown} /> : <Routines />;
}

function Routines() {
  const isOperator = useApp().user?.role === "operator";
  const [isAdding, setAdding] = useState(false);
  const read = () => ask<{ routines: readonly Routine[] }>("GET", "/api/routines");
  const [, , reload, shown] = useLive(read, EVERY_MS, []);
  const { user, what, when, next, last } = words.columns;
  const onAdded = () => {
    setAdding(false);
    void reload();
  };
  return (
    <Page
      title={text.pages.routines}
      actions={
        !isAdding && <Button label={words.add} icon={Plus} class="primary" onClick={() => setAdding(true)} />
      }
    >
      {isAdding && <AddRoutine onAdded={onAdded} onClose={() => setAdding(false)} />}
      <Loaded of={shown}>
        {({ routines }) => (
          <>
            {routines.length === 0 && !isAdding && (
              <EmptyState title={words.none} icon={CalendarClock}>
                {words.noneNote}
              </EmptyState>
            )}
            <List
              columns={[what, ...(isOperator ? [user] : []), when, next, last]}
              items={routines}
              hasActions={false}
            >
              {(routine) => (
                <tr key={routine.id}>
                  <td dir="auto">
                    <a href={`#/routines/${routine.id}`}>{routine.text.split("\n")[0]}</a>
                  </td>
                  {isOperator && (
                    <td class="whole" title={routine.user}>
                      {routine.user}
                    </td>
                  )}
                  <td>{routine.words}</td>
                  <td>{routine.next_at ? localTime(routine.next_at, routine.tz) : statusOf(routine)}</td>
                  <td>{routine.last_run ? outcomeOf(routine.last_run) : text.basics.never}</td>
                </tr>
              )}
            </List>
          </>
        )}
      </Loaded>
    </Page>
  );
}
