import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PageEntry } from "../pages/pages.tsx";
import { Bar } from "./bar.tsx";

type Loaded = ComponentType<{ readonly shown: string | undefined }>;

const loaded = new Map<string, Loaded>();

/** A page whose code is fetched when it is first opened. */
export function LazyPage({ entry, shown }: { entry: PageEntry; shown: string | undefined }) {
  const [failed, setFailed] = useState(false);
  const [, setLoaded] = useState("");
  const load = () => {
    setFailed(false);
    entry.load().then(
      (page) => {
        loaded.set(entry.name, page);
        setLoaded(entry.name);
      },
      () => setFailed(true),
    );
  };
  useEffect(load, [entry.name]);
  const Shown = loaded.get(entry.name);
  if (Shown) return <Shown shown={shown} />;
  return (
    <>
      <Bar title={entry.title} />
      {failed && (
        <div class="trouble" role="alert">
          <span>This page could not be loaded. Postern may have been upgraded, or cannot be reached.</span>
          <span class="row">
            {/* A browser remembers a module that failed: only a new document fetches it again. */}
            <button type="button" onClick={() => location.reload()}>
              Reload
            </button>
          </span>
        </div>
      )}
    </>
  );
}
