/** What a request is about: where it goes on, what is new in it, and what its row holds. Nothing is written here. */
import type { Gate } from "../../../kernel/plugin.ts";
import type { Echo, PageOf } from "../answer/response.ts";
import type { GivenItem, SaidItem } from "../parse/items.ts";
import { previousNotFound } from "../parse/refusals.ts";
import type { CreateRequest } from "../parse/request.ts";
import type { Asked } from "../turn/turn.ts";
import type { WireError } from "../wire/format.ts";
import type { ResponseId } from "../wire/id.ts";
import {
  type Ask,
  answersOf,
  askAfter,
  askOf,
  refuseGate,
  refuseLoose,
  refuseMixture,
  refuseResume,
  refuseStray,
  refuseUnanswered,
  takeInstructions,
} from "./ask.ts";
import { type AttachmentParts, resolveAttachments } from "./attachments.ts";
import { conversationOf } from "./history.ts";
import { createEarlier, type EarlierParts, type EarlierPlace } from "./previous.ts";
import { answersMatch, type Match, matchReplay, pendingOf } from "./replay.ts";

export interface PreparationParts extends EarlierParts {
  readonly pageOf: PageOf;
  /** Whether a client may replay a whole tool loop instead of resuming it. */
  readonly replay: boolean;
  readonly attachments: AttachmentParts;
}

export interface Prepared extends Asked {
  /** What is new in it. */
  readonly items: readonly SaidItem[];
  readonly echo: Echo;
  readonly goesOn?: string;
  readonly inputDigest?: string;
  /** Why no turn begins: the response says so. */
  readonly failure?: WireError | undefined;
}

export interface Preparation {
  /** A request of messages alone, on a thread that waits for nothing: nobody has to be asked about it. */
  plain(request: CreateRequest, previous: ResponseId): Prepared;
  /** With a `previous_response_id`, as the specification has it. */
  resume(user: string, request: CreateRequest, previous: ResponseId): Promise<Prepared>;
  /** The same through the open door: outputs and messages together, from any response of the past. */
  goOn(user: string, request: CreateRequest, previous: ResponseId): Promise<Prepared>;
  /** With a conversation: on its thread, or on a new one that becomes its. */
  join(
    user: string,
    request: CreateRequest,
    place: { readonly thread: string | undefined; readonly after: string | undefined },
  ): Promise<Prepared>;
  /** All is in the request. First how it goes on from an earlier one that it repeats, where it does, then how it does not. */
  begin(user: string, request: CreateRequest): Promise<readonly (() => Promise<Prepared>)[]>;
  /** For a turn that leaves nothing behind: its past comes with it. */
  copy(user: string, request: CreateRequest): Promise<Prepared>;
}

const NOT_FOUND: WireError = {
  type: "not_found_error",
  code: "previous_response_not_found",
  message:
    '"previous_response_id" names no response of yours. Begin a new thread, or use the id of one that is there.',
};

export function createPreparation(parts: PreparationParts): Preparation {
  const { threads, requests, pageOf, replay, attachments } = parts;
  const { given, previousPlace, echoOf } = createEarlier(parts);

  const said = (request: CreateRequest) => (request.instructions === undefined ? [] : [request.instructions]);
  /** Where the request's instructions go: into the history, or only before the model. */
  const instructed = (request: CreateRequest) =>
    request.door === "open"
      ? { instructions: [], once: said(request) }
      : { instructions: said(request), once: [] };

  function plain(request: CreateRequest, previous: ResponseId): Prepared {
    const items = request.items as readonly SaidItem[];
    return {
      ask: askOf(items),
      items,
      attached: [],
      place: { thread: previous.thread, after: previous.turn },
      ...instructed(request),
      isReplay: false,
      echo: request.echo,
    };
  }

  async function resume(user: string, request: CreateRequest, previous: ResponseId): Promise<Prepared> {
    const isResume = request.items.some(({ type }) => type === "function_call_output");
    if (isResume) refuseMixture(request.items);
    const [place, items] = await Promise.all([previousPlace(user, previous), given(user, request)]);
    const { items: kept, attached } = await resolveAttachments(user, items, attachments);
    // A continued thread has its own history: what the caller repeats of it is not stored twice.
    const ask: Ask = isResume ? answersOf(kept) : { ...askOf(kept), history: [] };
    const gate = place?.thread.gate;
    const failure = place === undefined ? NOT_FOUND : gate && refuseGate(gate, ask, pageOf);
    if (isResume && failure === undefined) refuseResume(gate, ask);
    return {
      ask,
      items: kept,
      attached,
      // An output answers what the thread waits for now, and only once.
      place: place && { thread: place.thread.id, after: isResume ? undefined : place.record?.id },
      ...instructed(request),
      isReplay: false,
      echo: await echoOf(user, request, ask, gate),
      failure,
    };
  }

  async function goOn(user: string, request: CreateRequest, previous: ResponseId): Promise<Prepared> {
    const place = await previousPlace(user, previous);
    if (place === undefined) throw previousNotFound();
    return await goOnAfter(user, request, place);
  }

  async function goOnAfter(
    user: string,
    request: CreateRequest,
    { thread, record }: EarlierPlace,
  ): Promise<Prepared> {
    const { items, attached } = await resolveAttachments(user, await given(user, request), attachments);
    const pending = pendingOf(record);
    refuseStray(items, pending);
    const ask = askAfter(items, pending);
    const isAsked = thread.gate !== undefined && thread.gate.id === record?.gate?.id;
    const failure = isAsked ? refuseGate(thread.gate as Gate, ask, pageOf) : undefined;
    if (failure === undefined) refuseUnanswered(ask, pending);
    return {
      ask,
      items,
      attached,
      place: { thread: thread.id, after: record?.id },
      ...instructed(request),
      isReplay: false,
      echo: await echoOf(user, request, ask, record?.gate),
      failure,
    };
  }

  async function join(
    user: string,
    request: CreateRequest,
    { thread: id, after }: { readonly thread: string | undefined; readonly after: string | undefined },
  ): Promise<Prepared> {
    if (id !== undefined) {
      const [thread, record] = await Promise.all([
        threads.find(user, id),
        after === undefined ? undefined : threads.turn(user, after),
      ]);
      if (thread === undefined) throw previousNotFound();
      return await goOnAfter(user, request, { thread, record });
    }
    const items = await given(user, request);
    refuseLoose(items, replay);
    return await afresh(user, request, items);
  }

  async function begin(user: string, request: CreateRequest): Promise<readonly (() => Promise<Prepared>)[]> {
    const { instructions, items } = leadOf(request, await given(user, request));
    refuseLoose(items, replay);
    const replayed = replay
      ? await matchReplay(user, items, seedOf(request), { requests, threads })
      : { digest: undefined, match: undefined };
    const { digest: inputDigest, match } = replayed;
    const key = inputDigest === undefined ? {} : { inputDigest };
    const anew = async () => ({ ...(await afresh(user, request, items, instructions)), ...key });
    if (match === undefined || !answersMatch(match)) return [anew];
    return [async () => ({ ...(await continueMatch(user, request, match, instructions)), ...key }), anew];
  }

  /** On a thread of its own. `leading`: what the system says at the very beginning. */
  async function afresh(
    user: string,
    request: CreateRequest,
    items: readonly GivenItem[],
    leading: readonly string[] = [],
  ): Promise<Prepared> {
    const { items: kept, attached } = await resolveAttachments(user, items, attachments);
    const { instructions, once } = instructed(request);
    return {
      ask: askOf(kept),
      items: [...leading.map((text): SaidItem => ({ type: "message", role: "system", text })), ...kept],
      attached,
      place: undefined,
      instructions,
      once: [...once, ...leading],
      isReplay: false,
      echo: request.echo,
    };
  }

  async function continueMatch(
    user: string,
    request: CreateRequest,
    { row, record, rest }: Match,
    leading: readonly string[],
  ): Promise<Prepared> {
    const { items, attached } = await resolveAttachments(user, rest, attachments);
    const { instructions, once } = instructed(request);
    return {
      ask: askAfter(items, pendingOf(record)),
      items,
      attached,
      place: { thread: record.thread, after: record.id },
      // The thread has them already, where they are the same.
      instructions: row.echo.instructions === request.instructions ? [] : instructions,
      once: [...once, ...leading],
      isReplay: true,
      echo: request.echo,
      goesOn: row.id,
    };
  }

  async function copy(user: string, request: CreateRequest): Promise<Prepared> {
    const { previous } = request;
    const place = previous && (await previousPlace(user, previous));
    const isMissing = previous !== undefined && place === undefined;
    if (isMissing && request.door === "open") throw previousNotFound();
    const { instructions, items } = leadOf(request, await given(user, request));
    const past = place?.record ? await conversationOf(user, place.record.id, parts) : [];
    refuseLoose([...past, ...items] as readonly GivenItem[], replay || past.length > 0);
    const { items: kept, attached } = await resolveAttachments(user, items, attachments);
    const ask = askOf([...past, ...kept]);
    refuseUnanswered(askAfter(kept, pendingOf(place?.record)), pendingOf(place?.record));
    const { instructions: own, once } = instructed(request);
    return {
      ask,
      items: kept,
      attached,
      place: undefined,
      instructions: own,
      once: [...once, ...instructions],
      isReplay: false,
      echo: request.echo,
      ...(isMissing && { failure: NOT_FOUND }),
    };
  }

  return { plain, resume, goOn, join, begin, copy };
}

/** What was said to another person, or about something else, is another conversation, though the words are the same. */
const seedOf = ({ door, settings }: CreateRequest): string =>
  JSON.stringify([door, settings.context, settings.generation?.safetyIdentifier]);

/** Through the open door, what the system says at the very beginning holds for this request. */
function leadOf(request: CreateRequest, items: readonly GivenItem[]) {
  return request.door === "open" && request.previous === undefined
    ? takeInstructions(items)
    : { instructions: [], items };
}
