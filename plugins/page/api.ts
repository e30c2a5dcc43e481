/** The types of the HTTP API, from /api/openapi.json: change the routes, not this file. */
// biome-ignore-all format: generate.ts writes it

export interface Routes {
  readonly "DELETE /api/bin": { readonly answer: { readonly deleted: number } };
  readonly "GET /api/approvals": {
    readonly answer: {
      readonly pending: readonly ({
        readonly type: "external_tool";
        readonly id: string;
        readonly turn_id: string;
        readonly thread_id: string;
        readonly opened_at: string;
        readonly call: ToolCall;
        readonly user_id?: string;
        readonly task?: { readonly id: string; readonly path: readonly string[] };
        readonly others?: readonly ToolCall[];
      } | {
        readonly type: "approval";
        readonly id: string;
        readonly turn_id: string;
        readonly thread_id: string;
        readonly opened_at: string;
        readonly call: ToolCall;
        readonly user_id?: string;
        readonly task?: { readonly id: string; readonly path: readonly string[] };
        readonly grants: readonly string[];
        readonly doubts?: readonly Doubt[];
        readonly others?: readonly ToolCall[];
        readonly steps?: readonly PlannedStep[];
        readonly offer?: RuleOffer;
        readonly fingerprint?: string;
      } | {
        readonly type: "authentication";
        readonly id: string;
        readonly turn_id: string;
        readonly thread_id: string;
        readonly opened_at: string;
        readonly call: ToolCall;
        readonly user_id?: string;
        readonly task?: { readonly id: string; readonly path: readonly string[] };
        readonly secret: string;
        readonly message: string;
        readonly fingerprint?: string;
      } | {
        readonly type: "question";
        readonly id: string;
        readonly turn_id: string;
        readonly thread_id: string;
        readonly opened_at: string;
        readonly call: ToolCall;
        readonly user_id?: string;
        readonly task?: { readonly id: string; readonly path: readonly string[] };
        readonly server: string;
        readonly questions: readonly Question[];
        readonly fingerprint?: string;
      } | PairingGate)[];
      readonly remembered: Readonly<Record<string, "allow" | "deny">>;
    };
  };
  readonly "GET /api/attachments": {
    readonly answer: { readonly file_bytes: number; readonly files: number; readonly message_bytes: number };
  };
  readonly "GET /api/bin": { readonly answer: { readonly threads: readonly BinnedThread[]; readonly next: string | null } };
  readonly "GET /api/channels": { readonly answer: { readonly channels: readonly ChatChannel[] } };
  readonly "GET /api/channels/{name}/setup": { readonly answer: ChannelSetup };
  readonly "GET /api/destinations": { readonly answer: { readonly destinations: readonly TrustedDestination[] } };
  readonly "GET /api/identities": { readonly answer: { readonly identities: readonly Identity[] } };
  readonly "GET /api/invitations": { readonly answer: { readonly invitations: readonly Invitation[] } };
  readonly "GET /api/jobs": { readonly answer: { readonly jobs: readonly Job[]; readonly next: string | null } };
  readonly "GET /api/jobs/{id}": { readonly answer: Job };
  readonly "GET /api/logs": {
    readonly answer: {
      readonly lines: readonly Readonly<Record<string, unknown>>[];
      readonly last: number;
      readonly node: string;
    };
  };
  readonly "GET /api/mcp/index": { readonly answer: ServerListing };
  readonly "GET /api/mcp/servers": { readonly answer: { readonly servers: readonly McpServer[] } };
  readonly "GET /api/mcp/servers/{name}": { readonly answer: McpServer };
  readonly "GET /api/mcp/servers/{name}/file": { readonly answer: { readonly file: string } };
  readonly "GET /api/memory": {
    readonly answer: {
      readonly results: readonly {
        readonly path: string;
        readonly snippet: string;
        readonly score: number;
        readonly updated_at: string;
        readonly origins?: readonly Origin[];
        readonly bytes?: number;
      }[];
    };
  };
  readonly "GET /api/memory/file": {
    readonly answer: {
      readonly path: string;
      readonly text: string;
      readonly updated_at: string;
      readonly version: number;
      readonly origins?: readonly Origin[];
    };
  };
  readonly "GET /api/memory/file/history": {
    readonly answer: {
      readonly versions: readonly ({
        readonly version: number;
        readonly updated_at: string;
        readonly bytes: number;
        readonly origins?: readonly Origin[];
        readonly writer?: {
          readonly kind: "page" | "api" | "cli" | "model";
          readonly channel?: string;
          readonly thread_id?: string;
          readonly turn_id?: string;
        };
      })[];
    };
  };
  readonly "GET /api/messages": { readonly answer: { readonly messages: readonly OutboxEntry[]; readonly next: string | null } };
  readonly "GET /api/models": {
    readonly answer: { readonly models: readonly ModelOption[]; readonly unlisted: readonly string[] };
  };
  readonly "GET /api/openapi.json": { readonly answer: Readonly<Record<string, unknown>> };
  readonly "GET /api/pairings": { readonly answer: { readonly requests: readonly PairingRequest[] } };
  readonly "GET /api/receipts": { readonly answer: { readonly receipts: readonly Receipt[] } };
  readonly "GET /api/receipts/{id}": { readonly answer: Receipt };
  readonly "GET /api/routines": { readonly answer: { readonly routines: readonly Routine[] } };
  readonly "GET /api/routines/preview": {
    readonly answer: { readonly words: string; readonly tz: string; readonly firings: readonly string[] };
  };
  readonly "GET /api/routines/{id}": { readonly answer: Routine };
  readonly "GET /api/routines/{id}/runs": { readonly answer: { readonly runs: readonly RoutineRun[]; readonly next: string | null } };
  readonly "GET /api/session": { readonly answer: { readonly user: User; readonly expires_at?: string } };
  readonly "GET /api/sessions": { readonly answer: { readonly sessions: readonly BrowserSession[] } };
  readonly "GET /api/settings": { readonly answer: { readonly settings: readonly ChangeableSetting[] } };
  readonly "GET /api/settings/local-servers": { readonly answer: { readonly servers: readonly LocalServer[] } };
  readonly "GET /api/skills": {
    readonly answer: { readonly skills: readonly Skill[]; readonly problems: readonly SkillProblem[] };
  };
  readonly "GET /api/status": {
    readonly answer: {
      readonly version: string;
      readonly uptime_secs: number;
      readonly channels: readonly { readonly name: string; readonly on: boolean; readonly detail: string }[];
      readonly model: ModelName;
      readonly is_model_missing: boolean;
      readonly tools: readonly string[];
      readonly users_online: number;
      readonly jobs: { readonly queued: number; readonly running: number };
      readonly nodes: readonly {
        readonly id: string;
        readonly version: string;
        readonly started_at: string;
        readonly last_seen_at: string;
      }[];
      readonly store: { readonly detail: string; readonly is_filling: boolean } | null;
    };
  };
  readonly "GET /api/tasks": { readonly answer: { readonly tasks: readonly Task[] } };
  readonly "GET /api/threads": { readonly answer: { readonly threads: readonly Thread[]; readonly next: string | null } };
  readonly "GET /api/threads/{id}": {
    readonly answer: {
      readonly thread: Thread;
      readonly turns: readonly Turn[];
      readonly next: string | null;
      readonly versions: readonly TurnVersions[];
    };
  };
  readonly "GET /api/threads/{id}/context": { readonly answer: ContextUse };
  readonly "GET /api/tokens": { readonly answer: { readonly tokens: readonly Token[] } };
  readonly "GET /api/tool-index": { readonly answer: { readonly tools: readonly ListedTool[]; readonly problems: readonly string[] } };
  readonly "GET /api/tools": { readonly answer: { readonly tools: readonly Tool[] } };
  readonly "GET /api/tools/{name}": { readonly answer: Tool };
  readonly "GET /api/tools/{name}/limits": {
    readonly answer: {
      readonly limits: {
        readonly limit: number;
        readonly window_secs: number;
        readonly remaining: number;
        readonly reset_secs: number;
      } | null;
    };
  };
  readonly "GET /api/tools/{name}/own/setup": { readonly answer: ToolSetup };
  readonly "GET /api/tools/{name}/setup": { readonly answer: ToolSetup };
  readonly "GET /api/turns/{id}": { readonly answer: Turn };
  readonly "GET /api/usage": {
    readonly answer: {
      readonly from: string;
      readonly to: string;
      readonly step: "hour" | "day";
      readonly at: readonly string[];
      readonly turns: Figures;
      readonly calls: Figures;
      readonly storage: UsedStorage;
      readonly answered?: AnsweredQuestions;
    };
  };
  readonly "GET /api/users": { readonly answer: { readonly users: readonly Account[] } };
  readonly "GET /api/webhooks": { readonly answer: { readonly integrations: readonly Integration[] } };
  readonly "GET /api/workspace": { readonly answer: { readonly entries: readonly FileEntry[]; readonly next: string | null } };
  readonly "GET /api/workspace/diff": { readonly answer: FileDifference };
  readonly "GET /api/workspace/entry": { readonly answer: FileEntry };
  readonly "GET /api/workspace/log": { readonly answer: { readonly sets: readonly ChangeSet[]; readonly next: string | null } };
  readonly "GET /api/workspace/roots": { readonly answer: { readonly roots: readonly FilesRoot[] } };
  readonly "GET /api/workspace/search": { readonly answer: { readonly hits: readonly FileHit[]; readonly complete: boolean } };
  readonly "GET /api/workspace/text": { readonly answer: FileText };
  readonly "GET /api/workspace/usage": { readonly answer: FilesUsage };
  readonly "GET /api/workspace/versions": { readonly answer: { readonly versions: readonly KeptVersion[] } };
  readonly "PATCH /api/routines/{id}": {
    readonly body: {
      readonly schedule?: string;
      readonly text?: string;
      readonly tz?: string;
      readonly budget?: { readonly usd: number; readonly per: "run" | "day" } | null;
      readonly timeout_secs?: number;
      readonly deliver?: string | null;
      readonly paused?: boolean;
    };
    readonly answer: Routine;
  };
  readonly "PATCH /api/settings": {
    readonly body: { readonly settings: Readonly<Record<string, string | null>> };
    readonly answer: { readonly settings: readonly ChangeableSetting[] };
  };
  readonly "PATCH /api/threads/{id}": {
    readonly body: {
      readonly title?: string;
      readonly pinned?: boolean;
      readonly model?: { readonly provider?: string; readonly name: string } | null;
    };
    readonly answer: Thread;
  };
  readonly "PATCH /api/tokens/{id}": { readonly body: { readonly expires_in_days: number | null }; readonly answer: Token };
  readonly "PATCH /api/users/{id}": { readonly body: { readonly role: "operator" | "user" }; readonly answer: Account };
  readonly "POST /api/approvals/{gate}": {
    readonly body: {
      readonly decision?: "once" | "always" | "destination" | "rule" | "deny" | "done";
      readonly limit?: string;
      readonly replies?: readonly Reply[];
      readonly looked_ms?: number;
    };
    readonly answer: { readonly thread_id: string; readonly message_id: string; readonly status: "accepted" };
  };
  readonly "POST /api/attachments": { readonly answer: Upload };
  readonly "POST /api/bin/{id}/restore": { readonly answer: Thread };
  readonly "POST /api/chat": {
    readonly body: {
      readonly message: string;
      readonly attachments?: readonly string[];
      readonly thread_id?: string;
      readonly channel?: "tui" | "ask";
      readonly model?: { readonly provider?: string; readonly name: string };
      readonly after?: string | null;
    };
    readonly answer: {
      readonly thread_id: string;
      readonly message_id: string;
      readonly response: string;
      readonly status: "waiting" | "completed" | "failed" | "cancelled";
      readonly usage: Usage;
      readonly error?: { readonly code: string; readonly message: string };
      readonly gate?: Gate;
    };
  };
  readonly "POST /api/chat/send": {
    readonly body: {
      readonly message: string;
      readonly attachments?: readonly string[];
      readonly thread_id?: string;
      readonly channel?: "tui" | "ask";
      readonly model?: { readonly provider?: string; readonly name: string };
      readonly after?: string | null;
    };
    readonly answer: { readonly thread_id: string; readonly message_id: string; readonly status: "accepted" };
  };
  readonly "POST /api/destinations/remove": { readonly body: { readonly value: string; readonly tool?: string; readonly for_all?: boolean } };
  readonly "POST /api/identities/deny": { readonly body: { readonly identity: string } };
  readonly "POST /api/identities/pair": { readonly body: { readonly identity: string; readonly account: string } };
  readonly "POST /api/identities/unpair": { readonly body: { readonly identity: string } };
  readonly "POST /api/invitations": {
    readonly body: { readonly user: string; readonly role?: "operator" | "user"; readonly expires_in_days?: number };
    readonly answer: {
      readonly id: string;
      readonly user: string;
      readonly created_at: string;
      readonly expires_at: string;
      readonly token: string;
    };
  };
  readonly "POST /api/jobs/{id}/cancel": { readonly answer: Job };
  readonly "POST /api/jobs/{id}/retry": { readonly answer: Job };
  readonly "POST /api/mcp/servers": {
    readonly body: {
      readonly name: string;
      readonly url?: string;
      readonly private_host?: boolean;
      readonly command?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
      readonly token?: string;
      readonly per_user?: boolean;
      readonly agree?: boolean;
    };
    readonly answer: McpServer;
  };
  readonly "POST /api/mcp/servers/{name}/agree": { readonly body: { readonly tools: readonly SeenTool[] }; readonly answer: McpServer };
  readonly "POST /api/mcp/servers/{name}/sign-in": { readonly answer: { readonly url: string } };
  readonly "POST /api/mcp/servers/{name}/test": { readonly answer: McpServer };
  readonly "POST /api/pairings/{code}": { readonly body: { readonly account: string }; readonly answer: PairingRequest };
  readonly "POST /api/routines": {
    readonly body: {
      readonly schedule: string;
      readonly text: string;
      readonly tz?: string;
      readonly budget?: { readonly usd: number; readonly per: "run" | "day" };
      readonly timeout_secs?: number;
      readonly deliver?: string;
      readonly user?: string;
    };
    readonly answer: Routine;
  };
  readonly "POST /api/routines/{id}/run": { readonly answer: RoutineRun };
  readonly "POST /api/session": {
    readonly body: { readonly token: string; readonly from_link?: boolean; readonly confirmed?: boolean };
    readonly answer: { readonly user: User; readonly expires_at?: string };
  };
  readonly "POST /api/settings/test-model": {
    readonly body: { readonly settings?: Readonly<Record<string, string | null>> };
    readonly answer: ModelTest;
  };
  readonly "POST /api/skills": { readonly answer: { readonly name: string; readonly digest: string } };
  readonly "POST /api/skills/examine": { readonly answer: SkillProposal };
  readonly "POST /api/skills/find": { readonly body: { readonly from: string }; readonly answer: SkillProposal };
  readonly "POST /api/skills/install": {
    readonly body: {
      readonly from: string;
      readonly digest: string;
      readonly allow_unsigned?: boolean;
      readonly allow_signer_change?: boolean;
    };
    readonly answer: { readonly name: string; readonly digest: string };
  };
  readonly "POST /api/tasks/{id}/cancel": { readonly answer: Task };
  readonly "POST /api/tokens": {
    readonly body: {
      readonly user: string;
      readonly name: string;
      readonly tools?: readonly string[] | "all" | "none" | null;
      readonly models?: readonly string[] | null;
      readonly per_day_usd?: number | null;
      readonly expires_in_days?: number | null;
    };
    readonly answer: {
      readonly id: string;
      readonly user: string;
      readonly name: string;
      readonly token: string;
      readonly tools: readonly string[] | null;
      readonly models: readonly string[] | null;
      readonly per_day_usd: number | null;
      readonly created_at: string;
      readonly expires_at: string | null;
      readonly warnings: readonly string[];
    };
  };
  readonly "POST /api/tools": { readonly answer: Tool };
  readonly "POST /api/tools/examine": { readonly answer: ToolProposal };
  readonly "POST /api/tools/find": { readonly body: { readonly from: string; readonly name?: string }; readonly answer: ToolFinding };
  readonly "POST /api/tools/install": {
    readonly body: {
      readonly from: string;
      readonly name: string;
      readonly digest: string;
      readonly replace?: boolean;
      readonly allow_unsigned?: boolean;
    };
    readonly answer: Tool;
  };
  readonly "POST /api/tools/{name}/enable": { readonly answer: { readonly enabled: boolean } };
  readonly "POST /api/tools/{name}/own/sign-in": { readonly answer: { readonly url: string } };
  readonly "POST /api/tools/{name}/sign-in": { readonly answer: { readonly url: string } };
  readonly "POST /api/turns/{id}/cancel": { readonly answer: { readonly cancelled: boolean } };
  readonly "POST /api/turns/{id}/retry": {
    readonly answer: { readonly thread_id: string; readonly message_id: string; readonly status: "accepted" };
  };
  readonly "POST /api/users": {
    readonly body: { readonly id: string; readonly role?: "operator" | "user"; readonly take_data?: boolean };
    readonly answer: Account;
  };
  readonly "POST /api/webhooks": {
    readonly body: { readonly name: string; readonly user: string; readonly message?: string };
    readonly answer: {
      readonly name: string;
      readonly user: string;
      readonly message: string | null;
      readonly created_at: string;
      readonly last_used_at: string | null;
      readonly secret: string;
    };
  };
  readonly "POST /api/workspace/attach": { readonly body: { readonly path: string }; readonly answer: Upload };
  readonly "POST /api/workspace/folders": { readonly body: { readonly path: string }; readonly answer: FileEntry };
  readonly "POST /api/workspace/keep": {
    readonly body: { readonly attachment_id: string; readonly path: string };
    readonly answer: FileEntry;
  };
  readonly "POST /api/workspace/move": { readonly body: { readonly path: string; readonly to: string }; readonly answer: FileEntry };
  readonly "POST /api/workspace/restore": { readonly body: { readonly path: string; readonly version: number }; readonly answer: FileEntry };
  readonly "POST /api/workspace/undo": {
    readonly body: { readonly set_id: string; readonly conflicts?: "overwrite" | "skip" };
    readonly answer: UndoOutcome;
  };
  readonly "PUT /api/approvals/remembered/{tool}": { readonly body: { readonly decision: "allow" | "deny"; readonly fingerprint?: string } };
  readonly "PUT /api/channels/{name}/setup": {
    readonly body: { readonly settings: Readonly<Record<string, string>> };
    readonly answer: { readonly detail: string; readonly link?: string };
  };
  readonly "PUT /api/mcp/servers/{name}/file": { readonly body: { readonly file: string }; readonly answer: McpServer };
  readonly "PUT /api/mcp/servers/{name}/token": { readonly body: { readonly token: string } };
  readonly "PUT /api/memory/file": {
    readonly body: { readonly text: string; readonly version?: number };
    readonly answer: { readonly path: string; readonly version: number };
  };
  readonly "PUT /api/tools/{name}/own/secrets/{secret}": { readonly body: { readonly value: string }; readonly answer: { readonly warning?: string } };
  readonly "PUT /api/tools/{name}/own/settings/{setting}": { readonly body: { readonly value: string }; readonly answer: { readonly saved: boolean } };
  readonly "PUT /api/tools/{name}/secrets/{secret}": { readonly body: { readonly value: string }; readonly answer: { readonly warning?: string } };
  readonly "PUT /api/tools/{name}/settings/{setting}": {
    readonly body: { readonly value: string; readonly agreed?: boolean };
    readonly answer: { readonly saved: boolean; readonly asks: readonly string[] };
  };
  readonly "PUT /api/workspace/file": { readonly answer: FileEntry };
}

export type Account = {
  readonly id: string;
  readonly role: "operator" | "user";
  readonly name?: string;
  readonly created_at: string;
};
export type AnsweredQuestions = {
  readonly count: number;
  readonly yes: number;
  readonly p50_millis: number | null;
  readonly is_hasty: boolean;
};
export type Attachment = {
  readonly id: string;
  readonly kind: "image" | "file" | "audio";
  readonly mime: string;
  readonly size: number;
  readonly name?: string;
  readonly detail?: string;
  readonly text?: { readonly bytes: number; readonly shown?: number };
};
export type BinnedThread = {
  readonly id: string;
  readonly title: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly channel: string;
  readonly pinned: boolean;
  readonly model: ModelName | null;
  readonly gate?: Gate;
  readonly binned_at: string;
  readonly expires_at: string;
};
export type BrowserSession = {
  readonly id: string;
  readonly user: string;
  readonly via: "token" | "operator_token" | "identity_provider" | "invitation";
  readonly browser: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string;
};
export type CallSummary = {
  readonly text: string;
  readonly did: "searched" | "searched_files" | "searched_memory" | "searched_tools" | "read" | "read_memory" | "listed" | "listed_memory" | "wrote" | "wrote_memory" | "edited" | "moved" | "removed" | "removed_memory" | "undid" | "ran_code" | "converted" | "looked_up_weather" | "read_skill" | "ran_skill" | "copied_skill" | "began_mission" | "ended_mission" | "listed_missions" | "delegated" | "proposed_routine" | "proposed_tool";
  readonly object?: string;
  readonly counts?: {
    readonly added?: number;
    readonly removed?: number;
    readonly results?: number;
    readonly entries?: number;
    readonly charts?: number;
    readonly files?: number;
    readonly copied?: number;
    readonly paths?: number;
  };
};
export type ChangeSet = {
  readonly id: string;
  readonly at: string;
  readonly writer: FileWriter;
  readonly undoes?: string;
  readonly undone_by?: string;
  readonly changes: readonly ({
    readonly path: string;
    readonly change: "created" | "written" | "removed" | "moved";
    readonly to?: string;
    readonly before: number;
    readonly after: number;
    readonly is_folder?: boolean;
  })[];
  readonly is_cut?: boolean;
};
export type ChangeableSetting = {
  readonly name: string;
  readonly about: string;
  readonly type: "string" | "boolean" | "integer" | "number" | "choice" | "list" | "url";
  readonly choices?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly is_secret: boolean;
  readonly is_set: boolean;
  readonly value: string | null;
  readonly hint?: string;
  readonly source: "environment" | ".env" | "stored" | "default";
  readonly is_fixed: boolean;
  readonly default: string | null;
  readonly problem?: string;
};
export type ChannelSetup = {
  readonly guide: string;
  readonly settings: readonly {
    readonly name: string;
    readonly example?: string;
    readonly about: string;
    readonly is_optional: boolean;
    readonly is_secret: boolean;
    readonly is_set: boolean;
    readonly is_fixed: boolean;
  }[];
};
export type ChatChannel = {
  readonly name: string;
  readonly title: string;
  readonly missing: string | null;
  readonly node: string | null;
  readonly is_connected: boolean;
  readonly detail: string;
  readonly last_received_at: string | null;
  readonly last_sent_at: string | null;
  readonly waiting: number;
  readonly oldest_waiting_at: string | null;
  readonly dead: number;
  readonly requests: number;
};
export type ContextUse = {
  readonly model: ModelName;
  readonly window: number;
  readonly total: number;
  readonly instructions: number;
  readonly tools: number;
  readonly memory: number;
  readonly conversation: number;
  readonly files: number;
  readonly is_summarised: boolean;
  readonly cost: string;
  readonly spent: number;
  readonly saved: number;
};
export type Doubt = {
  readonly rule: "destination" | "content" | "change";
  readonly param: string;
  readonly value: string;
  readonly part?: string;
  readonly origin?: Origin;
  readonly excerpt?: string;
  readonly sentence: string;
  readonly headline?: string;
  readonly source?: string;
  readonly reason?: DoubtReason;
};
export type DoubtReason = {
  readonly tool: string;
  readonly why: "source" | "unsaid" | "limit" | "part_source" | "part_unsaid" | "unasked" | "more";
  readonly noun?: "address" | "link" | "account" | "number" | "text" | "destination";
  readonly source?: {
    readonly kind: "tool" | "server" | "caller" | "outside" | "file" | "memory" | "page" | "skill" | "model";
    readonly name: string;
    readonly place?: string;
    readonly tool?: string;
  };
  readonly count?: number;
};
export type Figure = {
  readonly count: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  readonly estimated_cost?: number;
  readonly cached_tokens?: number;
  readonly saved_cost?: number;
  readonly p50_millis: number | null;
  readonly p95_millis: number | null;
};
export type Figures = {
  readonly total: Figure;
  readonly points: readonly ({
    readonly at: string;
    readonly count: number;
    readonly failed: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cost: number;
    readonly estimated_cost?: number;
    readonly cached_tokens?: number;
    readonly saved_cost?: number;
    readonly p50_millis: number | null;
    readonly p95_millis: number | null;
  })[];
  readonly groups: readonly GroupFigure[];
};
export type FileChange = {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly string[];
  readonly is_cut?: boolean;
};
export type FileDifference = { readonly lines: readonly string[]; readonly problem?: string };
export type FileEntry = {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
  readonly mime: string;
  readonly version: number;
  readonly digest?: string;
  readonly updated_at: string;
  readonly origins?: readonly Origin[];
  readonly is_read_only?: boolean;
};
export type FileHit = {
  readonly path: string;
  readonly line?: number;
  readonly text?: string;
  readonly updated_at?: string;
};
export type FileText = { readonly text: string; readonly is_complete: boolean; readonly problem?: string };
export type FileWriter = {
  readonly kind: "page" | "api" | "cli" | "model" | "tool" | "outside";
  readonly channel?: string;
  readonly thread_id?: string;
  readonly turn_id?: string;
  readonly tool?: string;
};
export type FilesRoot = {
  readonly name: string;
  readonly kind: "named" | "mount";
  readonly is_read_only: boolean;
  readonly problem?: string;
};
export type FilesUsage = {
  readonly bytes: number;
  readonly max_bytes: number;
  readonly files: number;
  readonly max_files: number;
};
export type Gate = {
  readonly type: "external_tool";
  readonly id: string;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly opened_at: string;
  readonly call: ToolCall;
  readonly user_id?: string;
  readonly task?: { readonly id: string; readonly path: readonly string[] };
  readonly others?: readonly ToolCall[];
} | {
  readonly type: "approval";
  readonly id: string;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly opened_at: string;
  readonly call: ToolCall;
  readonly user_id?: string;
  readonly task?: { readonly id: string; readonly path: readonly string[] };
  readonly grants: readonly string[];
  readonly doubts?: readonly Doubt[];
  readonly others?: readonly ToolCall[];
  readonly steps?: readonly PlannedStep[];
  readonly offer?: RuleOffer;
  readonly fingerprint?: string;
} | {
  readonly type: "authentication";
  readonly id: string;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly opened_at: string;
  readonly call: ToolCall;
  readonly user_id?: string;
  readonly task?: { readonly id: string; readonly path: readonly string[] };
  readonly secret: string;
  readonly message: string;
  readonly fingerprint?: string;
} | {
  readonly type: "question";
  readonly id: string;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly opened_at: string;
  readonly call: ToolCall;
  readonly user_id?: string;
  readonly task?: { readonly id: string; readonly path: readonly string[] };
  readonly server: string;
  readonly questions: readonly Question[];
  readonly fingerprint?: string;
};
export type GroupFigure = {
  readonly name: string;
  readonly count: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  readonly estimated_cost?: number;
  readonly cached_tokens?: number;
  readonly saved_cost?: number;
  readonly p50_millis: number | null;
  readonly p95_millis: number | null;
  readonly points: readonly {
    readonly at: string;
    readonly count: number;
    readonly failed: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cost: number;
    readonly estimated_cost?: number;
    readonly cached_tokens?: number;
    readonly saved_cost?: number;
  }[];
};
export type Identity = {
  readonly id: string;
  readonly account: string | null;
  readonly paired_at: string | null;
  readonly held: number;
};
export type Integration = {
  readonly name: string;
  readonly user: string;
  readonly message: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
};
export type Invitation = {
  readonly id: string;
  readonly user: string;
  readonly created_at: string;
  readonly expires_at: string;
};
export type Job = {
  readonly id: string;
  readonly user: string;
  readonly message: string;
  readonly status: "queued" | "running" | "completed";
  readonly waiting_for?: "pairing";
  readonly created_at: string;
  readonly thread_id?: string;
  readonly conversation_id?: string;
  readonly response?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly attempts: number;
  readonly started_at?: string;
  readonly completed_at?: string;
  readonly callback?: {
    readonly status: "waiting" | "retrying" | "delivered" | "failed";
    readonly attempts: number;
    readonly message?: string;
    readonly next_at?: string;
  };
};
export type KeptVersion = {
  readonly version: number;
  readonly set_id: string;
  readonly change: "created" | "written" | "removed" | "moved";
  readonly bytes: number;
  readonly updated_at: string;
  readonly writer: FileWriter;
  readonly origins?: readonly Origin[];
};
export type ListedServer = {
  readonly name: string;
  readonly about: string;
  readonly page?: string;
  readonly url?: string;
  readonly sign_in?: "browser" | "token" | "none";
  readonly command?: readonly string[];
  readonly asks: readonly string[];
  readonly env: readonly string[];
  readonly index: string;
};
export type ListedTool = {
  readonly name: string;
  readonly about: string;
  readonly from: string;
  readonly index: string;
  readonly digest?: string;
  readonly signer?: string;
};
export type LocalServer = { readonly name: string; readonly base_url: string; readonly models: readonly string[] };
export type McpServer = {
  readonly name: string;
  readonly kind: "http" | "command";
  readonly address: string;
  readonly status: "connected" | "idle" | "connecting" | "unreachable" | "unauthenticated";
  readonly detail?: string;
  readonly revision?: string;
  readonly signs_in: boolean;
  readonly is_signed_in: boolean;
  readonly per_user: boolean;
  readonly added_at: string;
  readonly tools: readonly McpTool[];
};
export type McpTool = {
  readonly name: string;
  readonly tool: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly read_only: boolean;
  readonly state: "runs" | "asks" | "off" | "held";
  readonly warnings: readonly string[];
  readonly change?: {
    readonly before?: { readonly description: string; readonly schema: Readonly<Record<string, unknown>> };
    readonly after?: { readonly description: string; readonly schema: Readonly<Record<string, unknown>> };
    readonly differences: readonly string[];
  };
};
export type ModelName = { readonly provider: string; readonly name: string };
export type ModelOption = {
  readonly provider: string;
  readonly name: string;
  readonly role?: "configured" | "fallback";
  readonly window?: number;
  readonly price?: { readonly input: string; readonly output: string };
  readonly retires?: string;
  readonly replaced_by?: string;
};
export type ModelTest = {
  readonly ok: boolean;
  readonly model: ModelName;
  readonly message: string;
  readonly code?: string;
  readonly answer?: string;
  readonly millis: number;
  readonly models: readonly string[];
};
export type Origin = {
  readonly kind: "tool" | "server" | "caller" | "outside" | "file" | "memory" | "page" | "skill" | "model";
  readonly name: string;
};
export type OutboxEntry = {
  readonly id: string;
  readonly channel: string;
  readonly conversation: string;
  readonly user: string;
  readonly text: string;
  readonly status: "waiting" | "sending" | "unknown" | "dead";
  readonly attempts: number;
  readonly created_at: string;
  readonly next_at: string | null;
  readonly message: string | null;
};
export type PairingGate = {
  readonly type: "pairing";
  readonly id: string;
  readonly identity: string;
  readonly opened_at: string;
  readonly message: string;
};
export type PairingRequest = {
  readonly code: string;
  readonly identity: string;
  readonly name: string | null;
  readonly text: string;
  readonly is_authentic: boolean;
  readonly asked_at: string;
};
export type ParamRule = {
  readonly kind: "amount" | "within";
  readonly param: string;
  readonly limit: string;
  readonly unit?: string;
};
export type PlannedStep = {
  readonly tool: string;
  readonly title: string;
  readonly note?: string;
  readonly values: readonly ({
    readonly param: string;
    readonly value: string;
    readonly called?: string;
    readonly from?: string;
    readonly why?: "source" | "unsaid" | "earlier" | "later";
    readonly source?: {
      readonly kind: "tool" | "server" | "caller" | "outside" | "file" | "memory" | "page" | "skill" | "model";
      readonly name: string;
      readonly place?: string;
      readonly tool?: string;
    };
  })[];
};
export type Question = {
  readonly key: string;
  readonly message: string;
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
};
export type Receipt = {
  readonly id: string;
  readonly at: string;
  readonly tool: string;
  readonly user: string;
  readonly channel?: string;
  readonly ruling?: { readonly verdict: "clear" | "approved" | "trusted" | "off"; readonly doubts: readonly Doubt[] };
  readonly parent?: string;
  readonly calls?: readonly ({
    readonly tool: string;
    readonly status: "ok" | "error";
    readonly code?: string;
    readonly message?: string;
    readonly millis: number;
    readonly receipt?: string;
  })[];
  readonly millis: number;
  readonly status: "ok" | "error" | "unauthenticated" | "question";
  readonly code?: string;
  readonly message?: string;
  readonly requests: readonly {
    readonly method: string;
    readonly writes?: boolean;
    readonly host: string;
    readonly bytes: number;
    readonly millis: number;
    readonly status?: number;
    readonly error?: string;
  }[];
  readonly files?: { readonly read: readonly string[]; readonly written: readonly string[]; readonly more?: number };
  readonly credentials: readonly string[];
  readonly memory_peak: number;
  readonly logs: readonly { readonly level: string; readonly message: string }[];
};
export type Reply = {
  readonly key: string;
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>>;
};
export type Routine = {
  readonly id: string;
  readonly user: string;
  readonly text: string;
  readonly schedule: string;
  readonly words: string;
  readonly tz: string;
  readonly status: "active" | "paused" | "done";
  readonly paused_why: string | null;
  readonly next_at: string | null;
  readonly budget: { readonly usd: number; readonly per: "run" | "day" } | null;
  readonly timeout_secs: number;
  readonly deliver: string | null;
  readonly created_at: string;
  readonly last_run: RoutineRun | null;
};
export type RoutineRun = {
  readonly id: string;
  readonly routine_id: string;
  readonly due_at: string;
  readonly cause: "schedule" | "catch_up" | "manual";
  readonly missed: number;
  readonly status: "running" | "completed" | "failed" | "cancelled" | "skipped";
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly refused: readonly ({
    readonly tool: string;
    readonly needs: "approval" | "credential" | "answer";
    readonly message: string;
  })[];
  readonly undelivered: string | null;
  readonly thread_id: string | null;
  readonly turn_id: string | null;
  readonly job_id: string | null;
  readonly cost_usd: number;
  readonly started_at: string;
  readonly completed_at: string | null;
};
export type RuleOffer = {
  readonly kind: "amount" | "within";
  readonly param: string;
  readonly limit?: string;
  readonly unit?: string;
};
export type SeenTool = { readonly tool: string; readonly digest: string };
export type ServerListing = {
  readonly date: string;
  readonly servers: readonly ListedServer[];
  readonly problems: readonly string[];
};
export type ShownFile = { readonly path: string; readonly lines: readonly string[]; readonly count: number };
export type Skill = {
  readonly name: string;
  readonly description: string;
  readonly source: "own" | "added";
  readonly from?: string;
  readonly agreed_at?: string;
  readonly allowed_tools?: readonly string[];
  readonly required_tools: readonly string[];
  readonly scripts: readonly string[];
};
export type SkillProblem = { readonly folder: string; readonly why: string };
export type SkillProposal = {
  readonly name: string;
  readonly description: string;
  readonly orders: readonly string[];
  readonly from: string;
  readonly digest: string;
  readonly signature?: string;
  readonly signed: boolean;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowed_tools?: readonly string[];
  readonly unknown_tools: readonly string[];
  readonly required_tools: readonly string[];
  readonly scripts: readonly ShownFile[];
  readonly more_scripts: number;
  readonly not_runnable: readonly string[];
  readonly files: number;
  readonly bytes: number;
  readonly replaces?: {
    readonly is_same: boolean;
    readonly signer?: string;
    readonly differences: readonly ShownFile[];
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  };
};
export type SocketFrame = { readonly type: "hello"; readonly stream: string; readonly id: number; readonly user: User } | { readonly type: "resync"; readonly stream: string; readonly id: number; readonly reason: string } | { readonly type: "alive"; readonly stream: string; readonly id: number } | {
  readonly type: "started";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly after: string | null;
  readonly model: ModelName;
} | {
  readonly type: "text";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly item: string;
  readonly delta: string;
} | {
  readonly type: "reasoning";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly item: string;
  readonly delta: string;
} | {
  readonly type: "tool_started";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly item: string;
  readonly call: ToolCall;
  readonly summary?: CallSummary;
} | {
  readonly type: "tool_finished";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly item: string;
  readonly call: ToolCall;
  readonly outcome: ToolOutcome;
  readonly attachments?: readonly Attachment[];
  readonly summary?: CallSummary;
  readonly change?: FileChange;
  readonly millis: number;
} | {
  readonly type: "taken";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly message_id: string;
  readonly text: string;
  readonly attachments?: readonly Attachment[];
} | {
  readonly type: "gate";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly gate: Gate;
} | {
  readonly type: "notice";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly code: string;
  readonly message: string;
  readonly call?: string;
} | {
  readonly type: "usage";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly usage: Usage;
} | {
  readonly type: "done";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly status: "completed" | "waiting" | "cancelled";
  readonly turn: Turn;
} | {
  readonly type: "failed";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly code: string;
  readonly message: string;
  readonly turn: Turn;
} | {
  readonly type: "titled";
  readonly id: number;
  readonly turn_id: string;
  readonly thread_id: string;
  readonly title: string;
};
export type Task = {
  readonly id: string;
  readonly user: string;
  readonly parent_id: string | null;
  readonly parent_thread_id: string;
  readonly parent_turn_id: string;
  readonly call_id: string;
  readonly depth: number;
  readonly title: string;
  readonly status: "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";
  readonly error?: { readonly code: string; readonly message: string };
  readonly background: boolean;
  readonly thread_id: string | null;
  readonly calls: readonly string[];
  readonly cost: number;
  readonly budget: number | null;
  readonly origins: readonly Origin[];
  readonly created_at: string;
  readonly deadline_at: string;
  readonly completed_at?: string;
};
export type Thread = {
  readonly id: string;
  readonly title: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly channel: string;
  readonly pinned: boolean;
  readonly model: ModelName | null;
  readonly gate?: Gate;
  readonly match?: { readonly text: string; readonly at: string };
};
export type Token = {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly created_at: string;
  readonly tools: readonly string[] | null;
  readonly models: readonly string[] | null;
  readonly per_day_usd: number | null;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
};
export type Tool = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly grants: readonly string[];
  readonly writes: boolean;
  readonly hints?: ToolHints;
  readonly hosts?: readonly string[];
  readonly params?: Readonly<Record<string, "destination" | "content" | "selector">>;
  readonly agent_tools?: readonly string[];
  readonly fingerprint?: string;
  readonly origin?: ToolOrigin;
  readonly switched_off?: { readonly at: string; readonly why: string };
  readonly needs?: { readonly names: readonly string[]; readonly why: string; readonly is_offered: boolean };
  readonly asks?: boolean;
  readonly server?: { readonly name: string; readonly tool: string; readonly warnings: readonly string[] };
};
export type ToolCall = { readonly id: string; readonly name: string; readonly params: string };
export type ToolFinding = {
  readonly name: string;
  readonly digest: string;
  readonly version: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly grants: readonly string[];
  readonly writes: boolean;
  readonly hints?: ToolHints;
  readonly hosts?: readonly string[];
  readonly params?: Readonly<Record<string, "destination" | "content" | "selector">>;
  readonly replaces?: { readonly version: string; readonly added: readonly string[]; readonly removed: readonly string[] };
  readonly origin: ToolOrigin;
  readonly signature: string;
  readonly signed: boolean;
};
export type ToolHints = { readonly read_only: boolean; readonly destructive: boolean; readonly open_world: boolean };
export type ToolOrigin = {
  readonly kind: "folder" | "file" | "https" | "oci" | "npm";
  readonly reference: string;
  readonly digest: string;
  readonly listed?: string;
  readonly tag?: string;
  readonly version?: string;
  readonly own_capabilities?: boolean;
  readonly signer?: string;
};
export type ToolOutcome = { readonly status: "ok"; readonly output: string; readonly receipt?: string } | {
  readonly status: "error";
  readonly code: string;
  readonly message: string;
  readonly receipt?: string;
} | {
  readonly status: "unauthenticated";
  readonly tool: string;
  readonly secret: string;
  readonly message: string;
};
export type ToolProposal = {
  readonly digest: string;
  readonly version: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly grants: readonly string[];
  readonly writes: boolean;
  readonly hints?: ToolHints;
  readonly hosts?: readonly string[];
  readonly params?: Readonly<Record<string, "destination" | "content" | "selector">>;
  readonly replaces?: { readonly version: string; readonly added: readonly string[]; readonly removed: readonly string[] };
};
export type ToolSetup = {
  readonly secrets: readonly {
    readonly name: string;
    readonly is_set: boolean;
    readonly is_required: boolean;
    readonly is_own?: boolean;
    readonly question: string;
    readonly shares?: string;
    readonly instructions?: string;
    readonly url?: string;
  }[];
  readonly settings?: readonly ({
    readonly name: string;
    readonly description: string;
    readonly format: "text" | "host" | "url" | "number" | "boolean";
    readonly is_required: boolean;
    readonly value?: string;
    readonly is_default: boolean;
    readonly is_own?: boolean;
  })[];
  readonly signs_in: boolean;
};
export type TrustedDestination = {
  readonly value: string;
  readonly tool?: string;
  readonly user?: string;
  readonly rule?: ParamRule;
  readonly added_at: string;
};
export type Turn = {
  readonly id: string;
  readonly thread_id: string;
  readonly after: string | null;
  readonly channel: string;
  readonly status: "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";
  readonly input: TurnInput;
  readonly items: readonly TurnItem[];
  readonly model: ModelName;
  readonly usage: Usage;
  readonly created_at: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly gate?: Gate;
  readonly incomplete?: "max_output_tokens" | "content_filter";
  readonly completed_at?: string;
};
export type TurnInput = { readonly type: "message"; readonly text: string; readonly attachments?: readonly Attachment[] } | { readonly type: "tool_output"; readonly call: string; readonly output: string } | {
  readonly type: "tool_outputs";
  readonly outputs: readonly { readonly call: string; readonly output: string; readonly attachments?: readonly Attachment[] }[];
  readonly text?: string;
  readonly attachments?: readonly Attachment[];
} | {
  readonly type: "approval";
  readonly gate: string;
  readonly decision: "once" | "always" | "destination" | "rule" | "deny";
  readonly limit?: string;
} | { readonly type: "authentication"; readonly gate: string; readonly decision: "done" | "deny" } | { readonly type: "question"; readonly gate: string; readonly replies: readonly Reply[] };
export type TurnItem = {
  readonly type: "message";
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  readonly needs_model?: boolean;
  readonly origins?: readonly Origin[];
} | {
  readonly type: "tool_call";
  readonly id: string;
  readonly call: ToolCall;
  readonly external: boolean;
} | {
  readonly type: "tool_result";
  readonly id: string;
  readonly call: string;
  readonly outcome: ToolOutcome;
  readonly attachments?: readonly Attachment[];
  readonly summary?: CallSummary;
  readonly change?: FileChange;
  readonly origins?: readonly Origin[];
} | { readonly type: "reasoning"; readonly id: string; readonly text: string; readonly millis?: number };
export type TurnVersions = {
  readonly turn_id: string;
  readonly versions: readonly { readonly id: string; readonly message: number }[];
};
export type UndoOutcome = {
  readonly set?: ChangeSet;
  readonly conflicts: readonly { readonly path: string; readonly by: FileWriter; readonly at: string }[];
};
export type Upload = {
  readonly id: string;
  readonly kind: "image" | "file" | "audio";
  readonly mime: string;
  readonly size: number;
  readonly name: string;
  readonly detail?: string;
  readonly text?: { readonly bytes: number; readonly shown?: number };
  readonly note?: string;
};
export type Usage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost: number;
  readonly cost_details: {
    readonly input_cost_usd: string;
    readonly output_cost_usd: string;
    readonly total_cost_usd: string;
    readonly currency: "USD";
  };
  readonly estimated_cost_usd?: string;
};
export type UsedStorage = {
  readonly bytes: number;
  readonly max_bytes: number;
  readonly kinds: Readonly<Record<string, number>>;
};
export type User = { readonly id: string; readonly role: "operator" | "user"; readonly name?: string };
