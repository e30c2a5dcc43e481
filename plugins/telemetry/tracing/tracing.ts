/** Traces for a collector. This file is loaded only if one is configured. */
import type { Log } from "../../../kernel/plugin.ts";
import type { Tracer } from "../services.ts";
import type { TraceSettings } from "../settings.ts";
import { createSender } from "./sender.ts";
import { createSpans } from "./spans.ts";

export function openTracing(settings: TraceSettings, version: string, log: Log) {
  const { serviceName } = settings;
  const resource = { "service.name": serviceName, "service.version": version, ...settings.resource };
  const sender = createSender({ ...settings, resource }, log);
  const tracer: Tracer = {
    showsContent: settings.content,
    tellsHost: (host) => settings.hosts.some((pattern) => isHost(pattern.toLowerCase(), host)),
    start: createSpans(settings, sender.send),
  };
  return { tracer, close: sender.close };
}

function isHost(pattern: string, host: string): boolean {
  return pattern.startsWith("*.")
    ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1
    : host === pattern;
}
