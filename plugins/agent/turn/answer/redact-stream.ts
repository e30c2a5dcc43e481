/** Hides secrets in an answer while it streams, where one may be cut anywhere. */
import { hideShapes, type Mask, openEnd } from "../../../../kernel/kit/secrets.ts";

type HidingStream = ReturnType<Mask["stream"]>;

const LEADING_RUN = /^[A-Za-z0-9_.-]+/;

// Held text is never longer than this; the longest key block and the longest token are shorter.
const MAX_HELD = 16_384;

/** Holds back only an end that could be the beginning of a secret, so ordinary text is not delayed. */
export function createRedactStream(mask: Pick<Mask, "stream">): HidingStream {
  const values = mask.stream();
  const shapes = createShapeStream();
  return {
    push: (delta) => shapes.push(values.push(delta)),
    end: () => shapes.push(values.end()) + shapes.end(),
  };
}

function createShapeStream(): HidingStream {
  let held = "";
  // The last character let go: whether a shape begins after it is seen from it.
  let last = "";
  // True inside a secret too long to hold: the rest of its run is dropped.
  let swallowing = false;

  const release = (text: string): string => {
    const safe = hideShapes(last + text).slice(last.length);
    last = text.at(-1) ?? last;
    return safe;
  };

  return {
    push(delta) {
      held += delta;
      if (swallowing) {
        held = held.slice(LEADING_RUN.exec(held)?.[0].length ?? 0);
        if (held === "") return "";
        swallowing = false;
      }
      const keep = openEnd(held, last);
      if (keep > MAX_HELD) {
        swallowing = true;
        const all = held;
        held = "";
        return release(all);
      }
      const cut = held.length - keep;
      const free = held.slice(0, cut);
      held = held.slice(cut);
      return release(free);
    },
    end() {
      const rest = held;
      held = "";
      return release(rest);
    },
  };
}
