/** Traces for a collector. This file is loaded only if one is configured. */
import type { Tracer } from "../../../kernel/kit.ts";
import type { Log } from "../../../kernel/plugin.ts";
import type { TraceSettings } from "../settings.ts";
import { createSender } from "./sender.ts";
import { createSpans } from "./spans.ts";

export function openTracing(settings: TraceSettings, version: string, log: Log) {
  const { url, protocol, headers, timeoutMillis } = settings;
  const resource = {
    "service.name": settings.serviceName,
    "service.version": version,
    ...settings.resource,
  };
  const sender = createSender({ url, protocol, headers, timeoutMillis, resource }, log);
  const tracer: Tracer = {
    showsContent: settings.content,
    tellsHost: (host) => settings.hosts.some((pattern) => isHost(pattern, host)),
    start: createSpans(settings, sender.send),
  };
  return { tracer, close: sender.close };
}

function isHost(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase();
  return wanted.startsWith("*.")
    ? host.endsWith(wanted.slice(1)) && host.length > wanted.length - 1
    : host === wanted;
}
