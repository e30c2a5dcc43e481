/** A collector of OpenTelemetry's traces on a real socket, in JSON. */
import { createServer } from "node:http";
import { listen } from "./listening.ts";

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: Value }[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly attributes: readonly { readonly key: string; readonly value: Value }[];
        readonly events: readonly { readonly name: string }[];
        readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
        readonly status: { readonly code?: number };
      }[];
    }[];
  }[];
}

export interface CollectedSpan {
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  /** As `traceparent` would name them. */
  readonly links: readonly string[];
  readonly failed: boolean;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything as it was sent. */
  readonly text: string;
  readonly headers: readonly Readonly<Record<string, unknown>>[];
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const headers: Readonly<Record<string, unknown>>[] = [];
  let text = "";
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    headers.push({ ...request.headers, path: request.url });
    text += body;
    for (const { scopeSpans } of (JSON.parse(body) as Sent).resourceSpans)
      for (const span of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({
          trace: span.traceId,
          id: span.spanId,
          parent: span.parentSpanId || undefined,
          name: span.name,
          attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, plain(value)])),
          events: span.events.map(({ name }) => name),
          links: span.links.map((link) => `00-${link.traceId}-${link.spanId}-01`),
          failed: span.status.code === 2,
        });
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  const { url } = await listen(server);
  return {
    url,
    spans,
    headers,
    get text() {
      return text;
    },
  };
}

function plain(value: Value): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plain);
  return value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue);
}
