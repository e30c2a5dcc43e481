/** Looks up all that a request needs: where it continues, what is new in it, its attachments. Nothing is written. */
import type { Gate } from "../../../kernel/plugin.ts";
import type { AttachedBytes } from "../../agent/services.ts";
import type { GivenItem, SaidItem } from "../parse/items.ts";
import { type CreateRequest, type Echo, previousNotFound } from "../parse/request.ts";
import type { WireError } from "../wire/format.ts";
import type { ResponseId } from "../wire/id.ts";
import {
  type Ask,
  askAfter,
  askOf,
  type CallOutput,
  refuseLoose,
  refuseMixture,
  takeInstructions,
} from "./ask.ts";
import { type AttachmentParts, resolveAttachments } from "./attachments.ts";
import type { ConversationPlace } from "./conversation.ts";
import { type PageOf, pendingOf, refuseGate, refuseResume, refuseStray, refuseUnanswered } from "./gate.ts";
import { conversationOf } from "./history.ts";
import { createPrevious, type PreviousParts, type PreviousPlace } from "./previous.ts";
import { type Match, matchReplay } from "./replay.ts";

export interface ResolverParts extends PreviousParts {
  readonly pageOf: PageOf;
  /** True when a client may replay a whole tool loop instead of resuming it. */
  readonly replay: boolean;
  readonly attachments: AttachmentParts;
}

export interface Resolved {
  readonly ask: Ask;
  /** The new items, which the row of the request holds. */
  readonly items: readonly SaidItem[];
  readonly attached: readonly AttachedBytes[];
  /** The thread, and the turn of it, to continue from; undefined for a new thread. */
  readonly place: { readonly thread: string; readonly after: string | undefined } | undefined;
  /** Instructions that become part of the thread. */
  readonly instructions: readonly string[];
  readonly once: readonly string[];
  readonly isReplay: boolean;
  readonly echo: Echo;
  readonly goesOn?: string;
  readonly inputDigest?: string;
  /** Why no turn begins: the response fails with it. */
  readonly failure?: WireError;
}

/** Resolves a request in one way; what it finds may have changed by the time the turn opens. */
export type Way = () => Promise<Resolved>;

const NOT_FOUND: WireError = {
  type: "not_found_error",
  code: "previous_response_not_found",
  message: previousNotFound().message,
};

/** Every way of resolving begins with a new thread, and with the instructions where the dialect puts them. */
function baseOf({ echo, dialect, instructions: given }: CreateRequest) {
  const own = given === undefined ? [] : [given];
  const isOpen = dialect === "open";
  return {
    ...{ echo, attached: [], place: undefined, isReplay: false },
    // In the open dialect they hold for this request; in the strict one they stay in the history.
    instructions: isOpen ? [] : own,
    once: isOpen ? own : [],
  };
}

/** A request of messages alone, on a thread that waits for nothing: nothing has to be looked up. */
export function resolvePlain(request: CreateRequest, previous: ResponseId): Resolved {
  const items = request.items as readonly SaidItem[];
  const place = { thread: previous.thread, after: previous.turn };
  return { ...baseOf(request), ask: askOf(items), items, place };
}

/** Finds the ways to resolve a request, the best first: the last one always holds. */
export function createResolver(parts: ResolverParts) {
  const { threads, requests, pageOf, replay, attachments } = parts;
  const previously = createPrevious(parts);

  async function resume(user: string, request: CreateRequest, previous: ResponseId): Promise<Resolved> {
    const isResume = request.items.some(({ type }) => type === "function_call_output");
    if (isResume) refuseMixture(request.items);
    const [place, given] = await Promise.all([
      previously.placeOf(user, previous),
      previously.itemsOf(user, request),
    ]);
    const { items, attached } = await resolveAttachments(user, given, attachments);
    // A continued thread has its own history: what the caller repeats of it is not stored twice.
    const ask: Ask = isResume
      ? { history: [], outputs: items as readonly CallOutput[], text: "", attachments: [], instructions: [] }
      : { ...askOf(items), history: [] };
    const gate = place?.thread.gate;
    const failure = place === undefined ? NOT_FOUND : gate && refuseGate(gate, ask, pageOf);
    if (isResume && failure === undefined) refuseResume(gate, ask);
    const base = baseOf(request);
    const inForce = isResume && gate ? await previously.instructionsAt(user, gate.turn) : undefined;
    return {
      ...{ ...base, ask, items, attached, failure },
      // A resume has no message to stand before, so it repeats nothing that the thread has already.
      instructions: base.instructions.filter((text) => text !== inForce),
      // An output belongs to what the thread waits for now, and only once.
      place: place && { thread: place.thread.id, after: isResume ? undefined : place.record?.id },
      echo: await previously.echoOf(user, request, ask, gate),
    };
  }

  /** In the open dialect: outputs and messages together, from any earlier response. */
  async function continueFrom(
    user: string,
    request: CreateRequest,
    { thread, record }: PreviousPlace,
  ): Promise<Resolved> {
    const given = await previously.itemsOf(user, request);
    const { items, attached } = await resolveAttachments(user, given, attachments);
    const pending = pendingOf(record);
    refuseStray(items, pending);
    const ask = askAfter(items, pending);
    const isAsked = thread.gate !== undefined && thread.gate.id === record?.gate?.id;
    const failure = isAsked ? refuseGate(thread.gate as Gate, ask, pageOf) : undefined;
    if (failure === undefined) refuseUnanswered(ask, pending);
    return {
      ...{ ...baseOf(request), ask, items, attached, failure },
      place: { thread: thread.id, after: record?.id },
      echo: await previously.echoOf(user, request, ask, record?.gate),
    };
  }

  /** With a conversation: on its thread, or on a new one that becomes its. */
  async function join(user: string, request: CreateRequest, place: ConversationPlace): Promise<Resolved> {
    if (place.thread === undefined) {
      const items = await previously.itemsOf(user, request);
      refuseLoose(items, replay);
      return await beginThread(user, request, items);
    }
    const [thread, record] = await Promise.all([
      threads.find(user, place.thread),
      place.after === undefined ? undefined : threads.turn(user, place.after),
    ]);
    if (thread === undefined) throw previousNotFound();
    return await continueFrom(user, request, { thread, record });
  }

  /** Everything is in the request, which may replay an earlier one and then continues its thread. */
  async function begin(user: string, request: CreateRequest): Promise<readonly Way[]> {
    const { instructions, items } = leadOf(request, await previously.itemsOf(user, request));
    refuseLoose(items, replay);
    const replayed = replay
      ? await matchReplay(user, items, seedOf(request), { requests, threads })
      : { digest: undefined, match: undefined };
    const { digest: inputDigest, match } = replayed;
    const anew: Way = async () => ({
      ...(await beginThread(user, request, items, instructions)),
      inputDigest,
    });
    if (match === undefined || !answersMatch(match)) return [anew];
    return [
      async () => ({ ...(await continueMatch(user, request, match, instructions)), inputDigest }),
      anew,
    ];
  }

  /** `leading` are the system messages at the very beginning. */
  async function beginThread(
    user: string,
    request: CreateRequest,
    given: readonly GivenItem[],
    leading: readonly string[] = [],
  ): Promise<Resolved> {
    const { items, attached } = await resolveAttachments(user, given, attachments);
    const base = baseOf(request);
    return {
      ...{ ...base, ask: askOf(items), attached },
      items: [...leading.map((text): SaidItem => ({ type: "message", role: "system", text })), ...items],
      once: [...base.once, ...leading],
    };
  }

  async function continueMatch(
    user: string,
    request: CreateRequest,
    { row, record, rest }: Match,
    leading: readonly string[],
  ): Promise<Resolved> {
    const { items, attached } = await resolveAttachments(user, rest, attachments);
    const base = baseOf(request);
    return {
      ...{ ...base, ask: askAfter(items, pendingOf(record)), items, attached },
      place: { thread: record.thread, after: record.id },
      // The thread has the same instructions already.
      instructions: row.echo.instructions === request.instructions ? [] : base.instructions,
      once: [...base.once, ...leading],
      isReplay: true,
      goesOn: row.id,
    };
  }

  /** For a turn that leaves nothing behind: its past is copied into it. */
  async function copy(user: string, request: CreateRequest): Promise<Resolved> {
    const { previous } = request;
    const place = previous && (await previously.placeOf(user, previous));
    const isMissing = previous !== undefined && place === undefined;
    if (isMissing && request.dialect === "open") throw previousNotFound();
    const { instructions: leading, items: given } = leadOf(request, await previously.itemsOf(user, request));
    const past = place?.record ? await conversationOf(user, place.record.id, parts) : [];
    refuseLoose([...past, ...given] as readonly GivenItem[], replay || past.length > 0);
    const { items, attached } = await resolveAttachments(user, given, attachments);
    const ask = askOf([...past, ...items]);
    const pending = pendingOf(place?.record);
    refuseUnanswered(askAfter(items, pending), pending);
    const base = baseOf(request);
    return {
      ...{ ...base, ask, items, attached },
      once: [...base.once, ...leading],
      failure: isMissing ? NOT_FOUND : undefined,
    };
  }

  return async (
    user: string,
    request: CreateRequest,
    place: ConversationPlace | undefined,
  ): Promise<readonly Way[]> => {
    const { previous } = request;
    if (!request.store) return [() => copy(user, request)];
    if (place) return [() => join(user, request, place)];
    if (previous === undefined) return await begin(user, request);
    if (request.dialect === "strict") return [() => resume(user, request, previous)];
    const found = await previously.placeOf(user, previous);
    if (found === undefined) throw previousNotFound();
    return [() => continueFrom(user, request, found)];
  };
}

/** True when the new items have an output for each call of that turn; otherwise they do not continue it. */
function answersMatch({ record, rest }: Match): boolean {
  if (rest.length === 0 || (record.gate !== undefined && record.gate.type !== "external_tool")) return false;
  const answered = new Set(rest.flatMap((item) => (item.type === "function_call_output" ? [item.call] : [])));
  return [...pendingOf(record)].every((call) => answered.has(call));
}

/** The same words to another person, or about something else, are another conversation. */
const seedOf = ({ dialect, context, settings }: CreateRequest): string =>
  JSON.stringify([dialect, context, settings.generation?.safetyIdentifier]);

/** In the open dialect, system messages at the very beginning hold for this request only. */
function leadOf(request: CreateRequest, items: readonly GivenItem[]) {
  return request.dialect === "open" && request.previous === undefined
    ? takeInstructions(items)
    : { instructions: [], items };
}
