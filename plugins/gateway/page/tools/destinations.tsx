import { useEffect, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/text/visible.ts";
import { attempt } from "../state/app.ts";
import { ask, type TrustedDestination } from "../state/wire.ts";

/** Where calls may go although somebody else named it, with a way back. */
export function Destinations({ isOperator }: { isOperator: boolean }) {
  const [known, setKnown] = useState<readonly TrustedDestination[]>();
  const load = async () => {
    const found = await attempt(() =>
      ask<{ destinations: readonly TrustedDestination[] }>("GET", "/api/destinations"),
    );
    if (found) setKnown(found.destinations);
  };
  useEffect(() => void load(), []);
  const remove = async ({ value, tool, user }: TrustedDestination) => {
    const body = { value, ...(tool && { tool }), ...(!user && { for_all: true }) };
    await attempt(() => ask("POST", "/api/destinations/remove", body));
    await load();
  };
  if (!known) return null;
  return (
    <section class="card" aria-label="Trusted destinations">
      <h2>Trusted destinations</h2>
      <p class="soft">
        A call to an address that you did not give yourself asks first. For these, the address alone is no
        reason to ask.
      </p>
      {known.length === 0 && <p class="soft">There are none.</p>}
      <ul class="entries">
        {known.map((one) => (
          <li key={JSON.stringify([one.value, one.tool, one.user])}>
            <span>
              <bdi>{visibleLine(one.value)}</bdi>
              <span class="soft">
                {one.tool ?? "every tool"} · {one.user === undefined ? "for everybody" : "for you"} · since{" "}
                {new Date(one.added_at).toLocaleDateString()}
              </span>
            </span>
            {(one.user !== undefined || isOperator) && (
              <button
                type="button"
                class="danger"
                aria-label={`Remove ${visibleLine(one.value)}`}
                onClick={() => void remove(one)}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
