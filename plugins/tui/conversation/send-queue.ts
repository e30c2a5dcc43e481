/** Turns on their way to the service, one after the other, and the events that arrive meanwhile. */

export function createSendQueue() {
  let last: Promise<unknown> = Promise.resolve();
  /** While a turn is being sent: what was heard of turns that are not known, which may be that one. */
  let heldBack: (() => void)[] | undefined;
  return {
    /** One after the other: the second message to a new thread has to know which thread that is. */
    send<Sent>(begin: () => Promise<Sent>): Promise<Sent> {
      const sent = last.then(async () => {
        heldBack = [];
        try {
          return await begin();
        } finally {
          const waiting = heldBack;
          heldBack = undefined;
          for (const hearIt of waiting) hearIt();
        }
      });
      last = sent.catch(() => {});
      return sent;
    },
    /** Calls it now, or as soon as the turn that is being sent is known. */
    hear(hearIt: () => void): void {
      if (heldBack === undefined) hearIt();
      else heldBack.push(hearIt);
    },
  };
}
