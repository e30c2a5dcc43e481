import { useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Routine } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { List } from "../../widgets/list.tsx";
import { AddRoutine } from "./add-routine.tsx";
import { RoutineCard } from "./routine-card.tsx";
import { localTime, outcomeOf, statusOf } from "./routine-words.ts";

const EVERY_MILLIS = 5000;

/** The routines; `shown` is the routine that the address names. */
export function RoutinesPage({ shown }: { readonly shown: string | undefined }) {
  return shown ? <RoutineCard key={shown} id={shown} /> : <Routines />;
}

function Routines() {
  const isOperator = useApp().user?.role === "operator";
  const [routines, setRoutines] = useState<readonly Routine[]>();
  const read = async () => {
    const { routines: found } = await ask<{ routines: readonly Routine[] }>("GET", "/api/routines");
    setRoutines(found);
  };
  useLive(async (isFirst) => void (await (isFirst ? attempt(read) : read())), EVERY_MILLIS, []);

  return (
    <Page title="Routines">
      {routines?.length === 0 && (
        <p class="soft">
          No routines yet. Add one below, or ask the agent to do something on a schedule: it proposes one, and
          you agree.
        </p>
      )}
      {routines && routines.length > 0 && (
        <List
          columns={[...(isOperator ? ["User"] : []), "What", "When", "Next run", "Last run"]}
          hasActions={false}
        >
          {routines.map((routine) => (
            <tr key={routine.id}>
              {isOperator && <td>{routine.user}</td>}
              <td dir="auto">
                <a href={`#/routines/${routine.id}`}>{routine.text.split("\n")[0]}</a>
              </td>
              <td>{routine.words}</td>
              <td>{routine.next_at ? localTime(routine.next_at, routine.tz) : statusOf(routine)}</td>
              <td>{routine.last_run ? outcomeOf(routine.last_run) : "never"}</td>
            </tr>
          ))}
        </List>
      )}
      <AddRoutine onAdded={() => void attempt(read)} />
    </Page>
  );
}
