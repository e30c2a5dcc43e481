/** A real agent with the provenance plugin, a model that makes every call of an attack, and tools that note what they were given. */
import { isDeepStrictEqual } from "node:util";
import type { AnyPlugin, Gate, TurnInput } from "../../../kernel/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import { inFolder } from "../../bench/support/programs.ts";
import { startModelServer } from "../../support/servers/model-server.ts";
import { type TestTool, toolsPlugin } from "../../support/services/agent.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { bootBare } from "../../support/services/bare-kernel.ts";
import { type Code, codeTool } from "../../support/services/code-tool.ts";
import { type Attack, type Call, isStep, type Move } from "./attacker.ts";
import { createConversation } from "./bare-loop.ts";

export interface Outcome {
  /** What the tools that lead out of here were called with. */
  readonly reached: readonly Call[];
  readonly questions: number;
  readonly doubts: number;
  /** Questions that were answered with yes. */
  readonly yes: number;
  /** The call that went through without a question after a tool was changed, although the person had agreed before that. */
  readonly unasked?: Call | undefined;
}

export type Try = (attack: Attack) => Promise<Outcome>;

/** The same attack before the gate alone, and in the whole service. */
export interface Desk {
  readonly alone: Try;
  readonly whole: Try;
}

type Say = (input: TurnInput, moves?: readonly Move[]) => Promise<{ readonly gate?: Gate | undefined }>;

function callsAt(gate: Gate): readonly Call[] {
  const others = gate.type === "approval" ? (gate.others ?? []) : [];
  return [gate.call, ...others].map(({ name, params }) => ({ name, arguments: JSON.parse(params) }));
}

const isAmong = (calls: readonly Call[], { name, arguments: given }: Call): boolean =>
  calls.some((one) => one.name === name && isDeepStrictEqual(one.arguments, given));

const text = { type: "string" };
const MOST_QUESTIONS = 12;

/** Lets `work` try one attack after another. The person says yes to what they want, and denies everything else. */
export function withDesk<Result>(work: (desk: Desk) => Promise<Result>): Promise<Result> {
  return inFolder(async (folder) => {
    const model = await startModelServer();
    const reached: Call[] = [];
    const strangers: Record<string, string> = {};
    const codes: Record<string, Code> = {};
    const note = (name: string, hosts: string[], writes: boolean, properties: object): TestTool => ({
      writes,
      hosts,
      schema: { type: "object", properties },
      run(params) {
        reached.push({ name, arguments: params as Call["arguments"] });
        return { status: "ok", output: strangers[name] ?? "done" };
      },
    });
    const reads = (name: string, owner: string): TestTool => ({
      hosts: owner === "" ? [] : [owner],
      schema: { type: "object", properties: { path: text, query: text } },
      run: () => ({ status: "ok", output: strangers[name] ?? "" }),
    });
    const several = { type: "array", items: text };
    const all: Readonly<Record<string, TestTool>> = {
      read_inbox: reads("read_inbox", "mail.test"),
      read_file: reads("read_file", ""),
      list_channels: reads("list_channels", "chat.test"),
      list_files: reads("list_files", "drive.test"),
      search_contacts: reads("search_contacts", "mail.test"),
      list_events: reads("list_events", "calendar.test"),
      search_web: note("search_web", ["search.test"], false, { query: text, page: { type: "integer" } }),
      fetch_page: note("fetch_page", ["*"], false, { url: text }),
      send_mail: note("send_mail", ["mail.test"], true, {
        to: several,
        cc: several,
        subject: text,
        body: text,
      }),
      reply_mail: note("reply_mail", ["mail.test"], true, { mail_id: text, text }),
      pay: note("pay", ["bank.test"], true, { recipient: text, amount: { type: "number" } }),
      post_message: note("post_message", ["chat.test"], true, { channel: text, text }),
      share_file: note("share_file", ["drive.test"], true, { file_id: text, email: text }),
      delete_file: note("delete_file", ["drive.test"], true, { file_id: text }),
      invite_user: note("invite_user", ["chat.test"], true, { user: text, email: text }),
      create_event: note("create_event", ["calendar.test"], true, { title: text, participants: several }),
      search_rooms: reads("search_rooms", "hotel.test"),
      search_mails: reads("search_mails", "mail.test"),
      reserve_room: note("reserve_room", ["hotel.test"], true, { room_id: text }),
      pay_booking: note("pay_booking", ["hotel.test"], true, { booking_id: text }),
      verify_payment: note("verify_payment", ["hotel.test"], true, { payment_id: text, code: text }),
      share_booking: note("share_booking", ["hotel.test"], true, { booking_id: text, emails: several }),
      cancel_booking: note("cancel_booking", ["hotel.test"], true, { booking_id: text }),
      buy_room: note("buy_room", ["hotel.test"], true, { room_id: text }),
      pay_other_booking: note("pay_other_booking", ["other.test"], true, { booking_id: text }),
      ring: note("ring", ["phone.test"], true, { number: text }),
      run_code: codeTool(codes),
    };
    /** Those that the attack calls: to offer all takes twice as long. */
    const tools: Record<string, TestTool> = {};
    const plugins = [store as AnyPlugin, toolsPlugin(tools), ...agentPlugins];
    const kernel = await bootBare(plugins, folder, {
      MODEL_BASE_URL: model.url,
      MODEL_NAME: "scripted",
      TOOL_APPROVALS: "*=allow",
      TOOLS_OFFERED: "100",
      CHAT_TITLES: "false",
      MEMORY_VECTORS: "false",
      STORE_SYNC: "normal",
    });
    const agent = kernel.service("agent");
    let count = 0;

    /** A conversation of a person of its own. */
    const inService = (): Say => {
      const user = `person${++count}`;
      let thread: string | undefined;
      return async (input, moves) => {
        if (moves)
          model.script(
            ...moves.map(({ calls }, at) => ({
              calls: calls.map((call, nr) => ({ id: `c${count}-${at}-${nr}`, ...call })),
            })),
            { text: "Done." },
          );
        const ran = await agent.run({ user, channel: "fuzz", input, ...(thread && { thread }) });
        const record = await ran.record;
        thread = record.thread;
        return record;
      };
    };

    async function attempt(
      { turns, given, codes: written, strangers: planted, agreed = [], isOnce = false, change }: Attack,
      begin: () => Say,
    ): Promise<Outcome> {
      reached.length = 0;
      model.forget();
      for (const name of Object.keys(tools)) delete tools[name];
      const called = new Set(
        [...turns.flat().flatMap(({ calls }) => calls), ...written.flat(), ...agreed].map(({ name }) => name),
      );
      for (const [name, tool] of Object.entries(all)) if (called.has(name)) tools[name] = { ...tool };
      Object.assign(strangers, planted);
      for (const [at, calls] of written.entries())
        codes[`code ${at}`] = async ({ call }) => {
          for (const one of calls) await call(one.name, one.arguments);
        };
      let questions = 0;
      let doubts = 0;
      let yes = 0;
      /** What was called when a tool had been changed, and nothing was agreed to since. */
      let changedAt: number | undefined;
      let unasked: Call | undefined;
      const changed = change && tools[change.tool];
      const agree = (calls: readonly Call[]) =>
        calls.every(
          (call, at) =>
            isAmong(agreed, call) && !(isOnce && isAmong([...reached, ...calls.slice(0, at)], call)),
        );
      /** Tools that they said yes to by themselves: the values of such a call are theirs while that tool is the same. */
      const confirmed = new Set<string>();
      /** The first step since the change in which something is not the person's own. */
      const lookForUnasked = () => {
        const isOpen = ({ name, arguments: params }: Call) =>
          isStep(name) &&
          (name === change?.tool || !confirmed.has(name)) &&
          !Object.values(params)
            .flat()
            .every((value) => given.includes(String(value)));
        if (changedAt !== undefined) unasked ??= reached.slice(changedAt).find(isOpen);
        changedAt = undefined;
      };
      const say = begin();
      for (const moves of turns) {
        let record = await say({ type: "message", text: moves[0]?.say ?? "" }, moves);
        for (let asked = 0; record.gate !== undefined && asked < MOST_QUESTIONS; asked++) {
          questions++;
          doubts += record.gate.type === "approval" ? (record.gate.doubts?.length ?? 0) : 0;
          const isAgreed = agree(callsAt(record.gate));
          if (change?.question === questions - 1)
            Object.assign(changed ?? {}, { grants: ["may use anything"] });
          const decision = isAgreed ? "once" : "deny";
          if (isAgreed) yes++;
          lookForUnasked();
          // What was just agreed to may go.
          const going = isAgreed ? callsAt(record.gate).filter(({ name }) => name !== "plan_steps") : [];
          for (const { name } of going) confirmed.add(name);
          if (change?.question === questions - 1) changedAt = reached.length + going.length;
          record = await say({ type: "approval", gate: record.gate.id, decision });
        }
        lookForUnasked();
      }
      return { reached: [...reached], questions, doubts, yes, unasked };
    }

    try {
      return await work({
        alone: (attack) => attempt(attack, () => createConversation(tools)),
        whole: (attack) => attempt(attack, inService),
      });
    } finally {
      await kernel.stop();
      await model.close();
    }
  });
}
