/** A conversation, and the call that is to be judged in it. */
export type Value = string | number | boolean | readonly string[];

export interface Answered {
  readonly owner: string;
  readonly tool: string;
  readonly asked: Readonly<Record<string, Value>>;
  /** A list of things, or a text. */
  readonly output: string | readonly Readonly<Record<string, Value>>[];
}

export interface Made {
  readonly tool: string;
  readonly owner: string;
  readonly params: Readonly<Record<string, Value>>;
}

export interface ProvenanceCase {
  readonly person: readonly string[];
  readonly heard: readonly Answered[];
  readonly call: Made;
}

/** What each tool does, and what its params are for. */
export interface ToolKind {
  readonly writes: boolean;
  readonly isOutside: boolean;
  readonly params: Readonly<Record<string, "destination" | "selector" | "content">>;
}

const outside = { isOutside: true } as const;
const changes = { writes: true, ...outside } as const;
export const TOOLS: Readonly<Record<string, ToolKind>> = {
  send_mail: { ...changes, params: { to: "destination", subject: "content", body: "content" } },
  reply_mail: { ...changes, params: { mail_id: "selector", text: "content" } },
  pay: { ...changes, params: { recipient: "destination", amount: "content" } },
  post_message: { ...changes, params: { channel: "destination", text: "content" } },
  delete_file: { ...changes, params: { file_id: "selector" } },
  share_file: { ...changes, params: { file_id: "selector", email: "destination" } },
  create_event: {
    ...changes,
    params: {
      title: "selector",
      start_time: "content",
      end_time: "content",
      location: "content",
      participants: "destination",
    },
  },
  invite_user: { ...changes, params: { user: "destination", email: "destination" } },
  append_to_file: { writes: true, isOutside: false, params: { file_id: "selector", content: "content" } },
  search_web: { writes: false, ...outside, params: { query: "content", page: "content" } },
  get_page: { writes: false, ...outside, params: { url: "destination" } },
};
