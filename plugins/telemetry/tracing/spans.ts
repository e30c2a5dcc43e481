/** Spans as plain records, which is all that is done beside a turn; another thread encodes and sends them. */
import { randomBytes } from "node:crypto";
import type { Attributes, Span, SpanOptions, Tracer } from "../services.ts";
import type { TraceSettings } from "../settings.ts";

/** Times are milliseconds since 1970. */
export interface SpanRecord {
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly isClient: boolean;
  readonly links: readonly SpanContext[];
  readonly start: number;
  end: number;
  /** In the order in which they were set; a later one wins. */
  readonly attributes: Attributes[];
  readonly events: { readonly name: string; readonly at: number; readonly attributes: Attributes }[];
  /** The code of what went wrong. */
  error: string | undefined;
}

export interface SpanContext {
  readonly trace: string;
  readonly id: string;
}

interface Parent extends SpanContext {
  readonly isSampled: boolean;
}

/** Shared by all spans of a trace. `zero` is the time at which this process' clock was zero, as known when the trace began. */
interface Trace {
  readonly id: string;
  readonly zero: number;
}

type Sampling = Pick<TraceSettings, "sampler" | "ratio">;

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const ALL_ZEROS = /^0+$/;
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
const RANDOM_BYTES = 4096;
// The part of a trace's id that is random by definition, and how many values it has.
const RANDOM_DIGITS = 14;
const RANDOM_VALUES = 16 ** RANDOM_DIGITS;

/** Calls `finished` with each sampled span when it has ended. */
export function createSpans(sampling: Sampling, finished: (span: SpanRecord) => void): Tracer["start"] {
  function begin(
    trace: Trace,
    parent: string | undefined,
    name: string,
    { attributes, kind }: SpanOptions,
    links: readonly SpanContext[] = [],
  ): Span {
    const now = () => trace.zero + performance.now();
    const record: SpanRecord = {
      trace: trace.id,
      id: newId(SPAN_DIGITS),
      parent,
      name,
      isClient: kind === "client",
      links,
      start: now(),
      end: 0,
      attributes: attributes === undefined ? [] : [attributes],
      events: [],
      error: undefined,
    };
    return {
      traceparent: `00-${record.trace}-${record.id}-01`,
      set: (more) => void record.attributes.push(more),
      event: (title, more = {}) => void record.events.push({ name: title, at: now(), attributes: more }),
      child: (title, options = {}) => begin(trace, record.id, title, options),
      end(error) {
        if (record.end > 0) return;
        record.end = now();
        record.error = error;
        finished(record);
      },
    };
  }

  return (name, { parent: header, links = [], ...options } = {}) => {
    const parent = header === undefined ? undefined : readParent(header);
    const id = parent?.trace ?? newId(TRACE_DIGITS);
    if (!isSampled(sampling, id, parent)) return unrecorded(id);
    const trace = { id, zero: Date.now() - performance.now() };
    const linked = links.flatMap((link) => readParent(link) ?? []);
    return begin(trace, parent?.id, name, options, linked);
  };
}

/** Tells servers further on that this trace is not sampled. */
function unrecorded(trace: string): Span {
  const span: Span = {
    traceparent: `00-${trace}-${newId(SPAN_DIGITS)}-00`,
    set() {},
    event() {},
    child: () => span,
    end() {},
  };
  return span;
}

function isSampled({ sampler, ratio }: Sampling, trace: string, parent: Parent | undefined): boolean {
  if (parent !== undefined && sampler.startsWith("parentbased_")) return parent.isSampled;
  if (sampler.endsWith("always_on")) return true;
  if (sampler.endsWith("always_off")) return false;
  return Number.parseInt(trace.slice(-RANDOM_DIGITS), 16) < ratio * RANDOM_VALUES;
}

let digits = "";
let used = 0;

/** Takes digits from a reserve, since making many random bytes at once is far cheaper. An id of all zeros, which is invalid, is too unlikely. */
function newId(length: number): string {
  if (used + length > digits.length) {
    digits = randomBytes(RANDOM_BYTES).toString("hex");
    used = 0;
  }
  used += length;
  return digits.slice(used - length, used);
}

function readParent(text: string): Parent | undefined {
  const [, trace = "", id = "", flags = ""] = TRACEPARENT.exec(text) ?? [];
  if (trace === "" || ALL_ZEROS.test(trace) || ALL_ZEROS.test(id)) return undefined;
  return { trace, id, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
