/** The whole path of a request: rate → size → content type → secret → body, then the job. */

import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import Router, { type RouterMiddleware } from "@koa/router";
import Koa, { type Context, type Middleware } from "koa";
import {
  applyLimit,
  type ChannelRules,
  httpFault,
  type Proxies,
  readText,
  secureAnswers,
  withTraceparent,
} from "../../../kernel/kit/http.ts";
import { identityOf } from "../../../kernel/kit/people.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import { Fault, type Job, type Limiter, type Log, reason, type Services } from "../../../kernel/plugin.ts";
import type { NewJob } from "../../jobs/services.ts";
import { JobRecord, JobSubmission } from "../job-wire.ts";
import type { Header, Proof } from "./proof.ts";
import type { Senders } from "./senders.ts";
import { parseEvent, parseMessage, parseNamedMessage } from "./submission.ts";
import type { UserLookup } from "./user-lookup.ts";

export interface AppOptions {
  readonly jobs: Pick<Services["jobs"], "find" | "wait">;
  readonly userOf: UserLookup;
  /** Resolves when the job is on disk. `userId` is the user that the sender named. */
  submit(job: NewJob, userId: string): Promise<Job>;
  readonly limiter: Limiter;
  readonly proxies: Proxies;
  readonly senders: Senders;
  readonly log: Log;
  /** Aborted when the channel stops: requests that wait for a job get the job as it is. */
  readonly stopping: AbortSignal;
}

const MAX_BODY_BYTES = 64 * 1024;

const WEBHOOK_RULES: ChannelRules = {
  largestBody: `${MAX_BODY_BYTES / 1024} KB`,
  exceptions: {
    // No turn runs during a submission, and a 200 would tell the sender that its job was accepted.
    turn: [500, "server_error"],
  },
  codes: { idempotency_key_reused: 422, storage_full: 413 },
};
const MAX_WAIT_SECS = 60;
const MAX_KEY_LENGTH = 255;

const JSON_TYPE = /^\s*application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

export function createApp(options: AppOptions): Koa {
  const router = new Router()
    .post("/webhook", takeMessage(options))
    .post("/webhook/:name", takeFromIntegration(options))
    .get("/jobs/:id", showJob(options));
  const app = new Koa();
  // Koa's own handler prints to standard error what has been handled and logged here.
  app.silent = true;
  app.use((context, next) => withTraceparent(context.req.headers["traceparent"], next));
  app.use(secureAnswers(options.proxies));
  app
    .use(respondToErrors(options.log))
    .use(limitRate(options))
    .use(router.routes())
    .use(refuseOtherRoutes(router));
  return app;
}

function respondToErrors(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      const { status, headers, body, isBug } = httpFault(error, WEBHOOK_RULES);
      if (isBug) log.error({ error }, `${context.method} ${context.path}: ${reason(error)}`);
      context.status = status;
      context.set(headers);
      context.body = body;
    }
  };
}

const tooLarge = (): Fault =>
  new Fault("invalid", "body_too_large", `The request body is larger than ${WEBHOOK_RULES.largestBody}.`);

function limitRate({ limiter, proxies }: AppOptions): Middleware {
  return async (context, next) => {
    applyLimit(await limiter.take(proxies.address(context.req)), context);
    await next();
  };
}

/** Returns the body as it was sent, after its size and its type were checked. */
async function readBytes(context: Context): Promise<Buffer> {
  if (Number(context.get("content-length")) > MAX_BODY_BYTES) throw tooLarge();
  const refusal = mediaTypeFault(context);
  // The size is checked first, and a size that was not declared is known only by reading.
  if (refusal) throw (await isLarger(context.req, MAX_BODY_BYTES)) ? tooLarge() : refusal;
  await readLatin1(context, async () => {});
  const { body } = context.request;
  return Buffer.from(typeof body === "string" ? body : "", "latin1");
}

function mediaTypeFault(context: Context): Fault | undefined {
  const refuse = (message: string) => new Fault("invalid", "unsupported_media_type", message);
  if (!JSON_TYPE.test(context.get("content-type")))
    return refuse('Content-Type must be "application/json", in UTF-8.');
  if (!/^(?:identity)?$/i.test(context.get("content-encoding")))
    return refuse("Content-Encoding is not supported: send the body uncompressed.");
  return undefined;
}

/** Reads and drops the body, up to the byte that decides. */
async function isLarger(request: IncomingMessage, maxBytes: number): Promise<boolean> {
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > maxBytes) return true;
    }
  } catch {
    // The caller hung up: nobody reads the response.
  }
  return false;
}

/** Reads one character per byte, since a signature covers the bytes as they were sent. */
const readLatin1 = readText({ types: ["application/json"], maxBytes: MAX_BODY_BYTES, encoding: "latin1" });

/** `POST /webhook`: whoever holds the shared secret, in the name of anybody. */
function takeMessage(options: AppOptions): Middleware {
  return async (context) => {
    const bytes = await readBytes(context);
    const proof = options.senders.shared(headerOf(context), bytes);
    const { userId, ...submission } = parseNamedMessage(bytes);
    const owner = await options.userOf.named(identityOf("webhook", userId));
    await submitJob(options, context, { ...submission, ...owner, ...identify(bytes, proof) }, userId);
  };
}

/** `POST /webhook/{name}`: one integration, in the name of its user. */
function takeFromIntegration(options: AppOptions): RouterMiddleware {
  return async (context) => {
    const bytes = await readBytes(context);
    const name = context.params["name"] ?? "";
    const { proof, sender } = await options.senders.named(name, headerOf(context), bytes);
    const submission = sender.message === undefined ? parseMessage(bytes) : parseEvent(bytes, sender.message);
    const job: NewJob = {
      ...submission,
      ...(await options.userOf.fixed(sender)),
      ...identify(bytes, proof),
      sender: sender.id,
      origin: sender.name,
    };
    await submitJob(options, context, job, sender.user);
  };
}

async function submitJob(options: AppOptions, context: Context, job: NewJob, userId: string): Promise<void> {
  const submitted = await options.submit(job, userId);
  const seconds = preferredWait(context);
  const known = seconds > 0 ? await waitFor(options, submitted, seconds) : submitted;
  context.body = toWire(JobSubmission, known);
}

const headerOf =
  (context: Context): Header =>
  (name) =>
    context.get(name);

/** Returns what tells a repetition of this delivery from a new one. */
function identify(bytes: Buffer, { key, keyName, canBeReplayed }: Proof): Partial<NewJob> {
  if (key.length > MAX_KEY_LENGTH) {
    const message = `${keyName} must have at most ${MAX_KEY_LENGTH} characters.`;
    throw new Fault("invalid", "invalid_field", message, { param: keyName });
  }
  return {
    fingerprint: hash("sha256", bytes),
    idempotencyKey: key === "" ? undefined : key,
    canBeReplayed: canBeReplayed || undefined,
  };
}

/** RFC 7240: a preference that makes no sense is ignored, one that is honoured is named in the response. */
function preferredWait(context: Context): number {
  const [, digits] = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(context.get("prefer")) ?? [];
  if (digits === undefined) return 0;
  const seconds = Math.min(Number(digits), MAX_WAIT_SECS);
  context.set("preference-applied", `wait=${seconds}`);
  return seconds;
}

async function waitFor({ jobs, stopping }: AppOptions, job: Job, seconds: number): Promise<Job> {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const onStop = () => resolve();
  stopping.addEventListener("abort", onStop, { once: true });
  if (stopping.aborted) resolve();
  try {
    await Promise.race([jobs.wait(job.id, seconds * 1000), stopped]);
  } finally {
    stopping.removeEventListener("abort", onStop);
  }
  return (await jobs.find(job.id)) ?? job;
}

/** A sender sees only its own jobs. */
function showJob({ jobs, senders }: AppOptions): RouterMiddleware {
  return async (context) => {
    const sender = await senders.whose(headerOf(context));
    const job = await jobs.find(context.params["id"] ?? "");
    if (job === undefined || job.channel !== "webhook" || (job.sender ?? "") !== sender)
      throw new Fault("missing", "job_not_found", "There is no job with this id.", { param: "job_id" });
    context.body = toWire(JobRecord, job);
  };
}

function refuseOtherRoutes(router: Router): Middleware {
  return (context) => {
    const allowed = router.match(context.path, "").path.flatMap(({ methods }) => methods);
    if (allowed.length === 0) {
      const message = `There is nothing at ${context.path}: use POST /webhook, POST /webhook/{name} or GET /jobs/{job_id}.`;
      throw new Fault("missing", "not_found", message);
    }
    context.set("allow", allowed.join(", "));
    throw new Fault("invalid", "method_not_allowed", `${context.path} accepts ${allowed.join(", ")}.`);
  };
}
