/** The types of the HTTP API, from /api/openapi.json: change the routes, not this file. */
// biome-ignore-all format: generate.ts writes it

export interface Routes {
  readonly "GET /api/approvals": {
    readonly answer: {
      readonly pending: readonly ({
        readonly type: "external_tool";
        readonly id: string;
        readonly turn_id: string;
        readonly thread_id: string;
        readonly opened_at: string;
        readonly call: Schemas["ToolCall"];
        readonly user_id?: string;
        readonly task?: { readonly id: string; readonly path: readonly string[] };
        readonly others?: readonly Schemas["ToolCall"][];
      } | {
        readonly type: "approval";
        readonly id: string;
        readonly turn_id: string;
        readonly thread_id: string;
        readonly opened_at: string;
        readonly call: Schemas["ToolCall"];
        readonly user_id?: string;
        readonly task?: { readonly id: string; readonly path: readonly string[] };
        readonly grants: readonly string[];
        readonly doubts?: readonly Schemas["Doubt"][];
        readonly others?: readonly Schemas["ToolCall"][];
        readonly fingerprint?: string;
      } | {
        readonly type: "authentication";
        readonly id: string;
        readonly turn_id: string;
        readonly thread_id: string;
        readonly opened_at: string;
        readonly call: Schemas["ToolCall"];
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
        readonly call: Schemas["ToolCall"];
        readonly user_id?: string;
        readonly task?: { readonly id: string; readonly path: readonly string[] };
        readonly server: string;
        readonly questions: readonly Schemas["Question"][];
        readonly fingerprint?: string;
      } | Schemas["PairingGate"])[];
      readonly remembered: Readonly<Record<string, "allow" | "deny">>;
    };
  };
  readonly "GET /api/attachments": {
    readonly answer: { readonly file_bytes: number; readonly files: number; readonly message_bytes: number };
  };
  readonly "GET /api/channels": { readonly answer: { readonly channels: readonly Schemas["ChatChannel"][] } };
  readonly "GET /api/destinations": { readonly answer: { readonly destinations: readonly Schemas["TrustedDestination"][] } };
  readonly "GET /api/identities": { readonly answer: { readonly identities: readonly Schemas["Identity"][] } };
  readonly "GET /api/invitations": { readonly answer: { readonly invitations: readonly Schemas["Invitation"][] } };
  readonly "GET /api/jobs": { readonly answer: { readonly jobs: readonly Schemas["Job"][]; readonly next: string | null } };
  readonly "GET /api/jobs/{id}": { readonly answer: Schemas["Job"] };
  readonly "GET /api/logs": {
    readonly answer: {
      readonly lines: readonly Readonly<Record<string, unknown>>[];
      readonly last: number;
      readonly node: string;
    };
  };
  readonly "GET /api/mcp/index": { readonly answer: Schemas["ServerListing"] };
  readonly "GET /api/mcp/servers": { readonly answer: { readonly servers: readonly Schemas["McpServer"][] } };
  readonly "GET /api/mcp/servers/{name}": { readonly answer: Schemas["McpServer"] };
  readonly "GET /api/mcp/servers/{name}/file": { readonly answer: { readonly file: string } };
  readonly "GET /api/memory": {
    readonly answer: {
      readonly results: readonly {
        readonly path: string;
        readonly snippet: string;
        readonly score: number;
        readonly updated_at: string;
        readonly origins?: readonly Schemas["Origin"][];
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
      readonly origins?: readonly Schemas["Origin"][];
    };
  };
  readonly "GET /api/memory/file/history": {
    readonly answer: {
      readonly versions: readonly ({
        readonly version: number;
        readonly updated_at: string;
        readonly bytes: number;
        readonly origins?: readonly Schemas["Origin"][];
        readonly writer?: {
          readonly kind: "page" | "api" | "cli" | "model";
          readonly channel?: string;
          readonly thread_id?: string;
          readonly turn_id?: string;
        };
      })[];
    };
  };
  readonly "GET /api/messages": {
    readonly answer: { readonly messages: readonly Schemas["OutboxEntry"][]; readonly next: string | null };
  };
  readonly "GET /api/models": {
    readonly answer: { readonly models: readonly Schemas["ModelOption"][]; readonly unlisted: readonly string[] };
  };
  readonly "GET /api/openapi.json": { readonly answer: Readonly<Record<string, unknown>> };
  readonly "GET /api/pairings": { readonly answer: { readonly requests: readonly Schemas["PairingRequest"][] } };
  readonly "GET /api/receipts": { readonly answer: { readonly receipts: readonly Schemas["Receipt"][] } };
  readonly "GET /api/receipts/{id}": { readonly answer: Schemas["Receipt"] };
  readonly "GET /api/routines": { readonly answer: { readonly routines: readonly Schemas["Routine"][] } };
  readonly "GET /api/routines/preview": {
    readonly answer: { readonly words: string; readonly tz: string; readonly firings: readonly string[] };
  };
  readonly "GET /api/routines/{id}": { readonly answer: Schemas["Routine"] };
  readonly "GET /api/routines/{id}/runs": {
    readonly answer: { readonly runs: readonly Schemas["RoutineRun"][]; readonly next: string | null };
  };
  readonly "GET /api/session": { readonly answer: { readonly user: Schemas["User"]; readonly expires_at?: string } };
  readonly "GET /api/sessions": { readonly answer: { readonly sessions: readonly Schemas["BrowserSession"][] } };
  readonly "GET /api/settings": { readonly answer: { readonly settings: readonly Schemas["ChangeableSetting"][] } };
  readonly "GET /api/settings/local-servers": { readonly answer: { readonly servers: readonly Schemas["LocalServer"][] } };
  readonly "GET /api/skills": {
    readonly answer: {
      readonly skills: readonly Schemas["Skill"][];
      readonly problems: readonly Schemas["SkillProblem"][];
    };
  };
  readonly "GET /api/status": {
    readonly answer: {
      readonly version: string;
      readonly uptime_secs: number;
      readonly channels: readonly { readonly name: string; readonly on: boolean; readonly detail: string }[];
      readonly model: Schemas["ModelName"];
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
  readonly "GET /api/tasks": { readonly answer: { readonly tasks: readonly Schemas["Task"][] } };
  readonly "GET /api/threads": {
    readonly answer: { readonly threads: readonly Schemas["Thread"][]; readonly next: string | null };
  };
  readonly "GET /api/threads/{id}": {
    readonly answer: {
      readonly thread: Schemas["Thread"];
      readonly turns: readonly Schemas["Turn"][];
      readonly next: string | null;
      readonly versions: readonly Schemas["TurnVersions"][];
    };
  };
  readonly "GET /api/threads/{id}/context": { readonly answer: Schemas["ContextUse"] };
  readonly "GET /api/tokens": { readonly answer: { readonly tokens: readonly Schemas["Token"][] } };
  readonly "GET /api/tool-index": {
    readonly answer: { readonly tools: readonly Schemas["ListedTool"][]; readonly problems: readonly string[] };
  };
  readonly "GET /api/tools": { readonly answer: { readonly tools: readonly Schemas["Tool"][] } };
  readonly "GET /api/tools/{name}": { readonly answer: Schemas["Tool"] };
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
  readonly "GET /api/tools/{name}/setup": { readonly answer: Schemas["ToolSetup"] };
  readonly "GET /api/turns/{id}": { readonly answer: Schemas["Turn"] };
  readonly "GET /api/usage": {
    readonly answer: {
      readonly from: string;
      readonly to: string;
      readonly step: "hour" | "day";
      readonly at: readonly string[];
      readonly turns: Schemas["Figures"];
      readonly calls: Schemas["Figures"];
      readonly storage: Schemas["UsedStorage"];
    };
  };
  readonly "GET /api/users": { readonly answer: { readonly users: readonly Schemas["Account"][] } };
  readonly "GET /api/webhooks": { readonly answer: { readonly integrations: readonly Schemas["Integration"][] } };
  readonly "GET /api/workspace": {
    readonly answer: { readonly entries: readonly Schemas["FileEntry"][]; readonly next: string | null };
  };
  readonly "GET /api/workspace/diff": { readonly answer: Schemas["FileDifference"] };
  readonly "GET /api/workspace/entry": { readonly answer: Schemas["FileEntry"] };
  readonly "GET /api/workspace/log": {
    readonly answer: { readonly sets: readonly Schemas["ChangeSet"][]; readonly next: string | null };
  };
  readonly "GET /api/workspace/roots": { readonly answer: { readonly roots: readonly Schemas["FilesRoot"][] } };
  readonly "GET /api/workspace/text": { readonly answer: Schemas["FileText"] };
  readonly "GET /api/workspace/usage": { readonly answer: Schemas["FilesUsage"] };
  readonly "GET /api/workspace/versions": { readonly answer: { readonly versions: readonly Schemas["KeptVersion"][] } };
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
    readonly answer: Schemas["Routine"];
  };
  readonly "PATCH /api/settings": {
    readonly body: { readonly settings: Readonly<Record<string, string | null>> };
    readonly answer: { readonly settings: readonly Schemas["ChangeableSetting"][] };
  };
  readonly "PATCH /api/threads/{id}": {
    readonly body: {
      readonly title?: string;
      readonly pinned?: boolean;
      readonly model?: { readonly provider?: string; readonly name: string } | null;
    };
    readonly answer: Schemas["Thread"];
  };
  readonly "PATCH /api/tokens/{id}": { readonly body: { readonly expires_in_days: number | null }; readonly answer: Schemas["Token"] };
  readonly "PATCH /api/users/{id}": { readonly body: { readonly role: "operator" | "user" }; readonly answer: Schemas["Account"] };
  readonly "POST /api/approvals/{gate}": {
    readonly body: {
      readonly decision?: "once" | "always" | "destination" | "deny" | "done";
      readonly replies?: readonly Schemas["Reply"][];
    };
    readonly answer: { readonly thread_id: string; readonly message_id: string; readonly status: "accepted" };
  };
  readonly "POST /api/attachments": { readonly answer: Schemas["Upload"] };
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
      readonly usage: Schemas["Usage"];
      readonly error?: { readonly code: string; readonly message: string };
      readonly gate?: Schemas["Gate"];
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
  readonly "POST /api/jobs/{id}/cancel": { readonly answer: Schemas["Job"] };
  readonly "POST /api/jobs/{id}/retry": { readonly answer: Schemas["Job"] };
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
    readonly answer: Schemas["McpServer"];
  };
  readonly "POST /api/mcp/servers/{name}/agree": {
    readonly body: { readonly tools: readonly Schemas["SeenTool"][] };
    readonly answer: Schemas["McpServer"];
  };
  readonly "POST /api/mcp/servers/{name}/sign-in": { readonly answer: { readonly url: string } };
  readonly "POST /api/mcp/servers/{name}/test": { readonly answer: Schemas["McpServer"] };
  readonly "POST /api/pairings/{code}": { readonly body: { readonly account: string }; readonly answer: Schemas["PairingRequest"] };
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
    readonly answer: Schemas["Routine"];
  };
  readonly "POST /api/routines/{id}/run": { readonly answer: Schemas["RoutineRun"] };
  readonly "POST /api/session": {
    readonly body: { readonly token: string; readonly from_link?: boolean; readonly confirmed?: boolean };
    readonly answer: { readonly user: Schemas["User"]; readonly expires_at?: string };
  };
  readonly "POST /api/settings/test-model": {
    readonly body: { readonly settings?: Readonly<Record<string, string | null>> };
    readonly answer: Schemas["ModelTest"];
  };
  readonly "POST /api/tasks/{id}/cancel": { readonly answer: Schemas["Task"] };
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
  readonly "POST /api/tools": { readonly answer: Schemas["Tool"] };
  readonly "POST /api/tools/examine": { readonly answer: Schemas["ToolProposal"] };
  readonly "POST /api/tools/find": {
    readonly body: { readonly from: string; readonly name?: string };
    readonly answer: Schemas["ToolFinding"];
  };
  readonly "POST /api/tools/install": {
    readonly body: {
      readonly from: string;
      readonly name: string;
      readonly digest: string;
      readonly replace?: boolean;
      readonly allow_unsigned?: boolean;
    };
    readonly answer: Schemas["Tool"];
  };
  readonly "POST /api/tools/{name}/enable": { readonly answer: { readonly enabled: boolean } };
  readonly "POST /api/tools/{name}/sign-in": { readonly answer: { readonly url: string } };
  readonly "POST /api/turns/{id}/cancel": { readonly answer: { readonly cancelled: boolean } };
  readonly "POST /api/turns/{id}/retry": {
    readonly answer: { readonly thread_id: string; readonly message_id: string; readonly status: "accepted" };
  };
  readonly "POST /api/users": {
    readonly body: { readonly id: string; readonly role?: "operator" | "user"; readonly take_data?: boolean };
    readonly answer: Schemas["Account"];
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
  readonly "POST /api/workspace/attach": { readonly body: { readonly path: string }; readonly answer: Schemas["Upload"] };
  readonly "POST /api/workspace/folders": { readonly body: { readonly path: string }; readonly answer: Schemas["FileEntry"] };
  readonly "POST /api/workspace/keep": {
    readonly body: { readonly attachment_id: string; readonly path: string };
    readonly answer: Schemas["FileEntry"];
  };
  readonly "POST /api/workspace/move": {
    readonly body: { readonly path: string; readonly to: string };
    readonly answer: Schemas["FileEntry"];
  };
  readonly "POST /api/workspace/restore": {
    readonly body: { readonly path: string; readonly version: number };
    readonly answer: Schemas["FileEntry"];
  };
  readonly "POST /api/workspace/undo": {
    readonly body: { readonly set_id: string; readonly conflicts?: "overwrite" | "skip" };
    readonly answer: Schemas["UndoOutcome"];
  };
  readonly "PUT /api/approvals/remembered/{tool}": { readonly body: { readonly decision: "allow" | "deny"; readonly fingerprint?: string } };
  readonly "PUT /api/mcp/servers/{name}/file": { readonly body: { readonly file: string }; readonly answer: Schemas["McpServer"] };
  readonly "PUT /api/mcp/servers/{name}/token": { readonly body: { readonly token: string } };
  readonly "PUT /api/memory/file": {
    readonly body: { readonly text: string; readonly version?: number };
    readonly answer: { readonly path: string; readonly version: number };
  };
  readonly "PUT /api/tools/{name}/secrets/{secret}": { readonly body: { readonly value: string }; readonly answer: { readonly warning?: string } };
  readonly "PUT /api/tools/{name}/settings/{setting}": {
    readonly body: { readonly value: string; readonly agreed?: boolean };
    readonly answer: { readonly saved: boolean; readonly asks: readonly string[] };
  };
  readonly "PUT /api/workspace/file": { readonly answer: Schemas["FileEntry"] };
}

export interface Schemas {
  readonly Account: {
    readonly id: string;
    readonly role: "operator" | "user";
    readonly name?: string;
    readonly created_at: string;
  };
  readonly Attachment: {
    readonly id: string;
    readonly kind: "image" | "file" | "audio";
    readonly mime: string;
    readonly size: number;
    readonly name?: string;
    readonly detail?: string;
    readonly text?: { readonly bytes: number; readonly shown?: number };
  };
  readonly BrowserSession: {
    readonly id: string;
    readonly user: string;
    readonly via: "token" | "operator_token" | "identity_provider" | "invitation";
    readonly browser: string | null;
    readonly created_at: string;
    readonly last_used_at: string | null;
    readonly expires_at: string;
  };
  readonly ChangeSet: {
    readonly id: string;
    readonly at: string;
    readonly writer: Schemas["FileWriter"];
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
  readonly ChangeableSetting: {
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
  readonly ChatChannel: {
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
  readonly ContextUse: {
    readonly model: Schemas["ModelName"];
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
  };
  readonly Doubt: {
    readonly rule: "destination" | "content" | "change";
    readonly param: string;
    readonly value: string;
    readonly part?: string;
    readonly origin?: Schemas["Origin"];
    readonly excerpt?: string;
    readonly sentence: string;
    readonly headline?: string;
    readonly source?: string;
  };
  readonly Figure: {
    readonly count: number;
    readonly failed: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cost: number;
    readonly estimated_cost?: number;
    readonly p50_millis: number | null;
    readonly p95_millis: number | null;
  };
  readonly Figures: {
    readonly total: Schemas["Figure"];
    readonly points: readonly ({
      readonly at: string;
      readonly count: number;
      readonly failed: number;
      readonly input_tokens: number;
      readonly output_tokens: number;
      readonly cost: number;
      readonly estimated_cost?: number;
      readonly p50_millis: number | null;
      readonly p95_millis: number | null;
    })[];
    readonly groups: readonly Schemas["GroupFigure"][];
  };
  readonly FileDifference: { readonly lines: readonly string[]; readonly problem?: string };
  readonly FileEntry: {
    readonly path: string;
    readonly kind: "file" | "folder";
    readonly bytes: number;
    readonly mime: string;
    readonly version: number;
    readonly digest?: string;
    readonly updated_at: string;
    readonly origins?: readonly Schemas["Origin"][];
    readonly is_read_only?: boolean;
  };
  readonly FileText: { readonly text: string; readonly is_complete: boolean; readonly problem?: string };
  readonly FileWriter: {
    readonly kind: "page" | "api" | "cli" | "model" | "tool" | "outside";
    readonly channel?: string;
    readonly thread_id?: string;
    readonly turn_id?: string;
    readonly tool?: string;
  };
  readonly FilesRoot: {
    readonly name: string;
    readonly kind: "named" | "mount";
    readonly is_read_only: boolean;
    readonly problem?: string;
  };
  readonly FilesUsage: {
    readonly bytes: number;
    readonly max_bytes: number;
    readonly files: number;
    readonly max_files: number;
  };
  readonly Gate: {
    readonly type: "external_tool";
    readonly id: string;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly opened_at: string;
    readonly call: Schemas["ToolCall"];
    readonly user_id?: string;
    readonly task?: { readonly id: string; readonly path: readonly string[] };
    readonly others?: readonly Schemas["ToolCall"][];
  } | {
    readonly type: "approval";
    readonly id: string;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly opened_at: string;
    readonly call: Schemas["ToolCall"];
    readonly user_id?: string;
    readonly task?: { readonly id: string; readonly path: readonly string[] };
    readonly grants: readonly string[];
    readonly doubts?: readonly Schemas["Doubt"][];
    readonly others?: readonly Schemas["ToolCall"][];
    readonly fingerprint?: string;
  } | {
    readonly type: "authentication";
    readonly id: string;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly opened_at: string;
    readonly call: Schemas["ToolCall"];
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
    readonly call: Schemas["ToolCall"];
    readonly user_id?: string;
    readonly task?: { readonly id: string; readonly path: readonly string[] };
    readonly server: string;
    readonly questions: readonly Schemas["Question"][];
    readonly fingerprint?: string;
  };
  readonly GroupFigure: {
    readonly name: string;
    readonly count: number;
    readonly failed: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cost: number;
    readonly estimated_cost?: number;
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
    }[];
  };
  readonly Identity: {
    readonly id: string;
    readonly account: string | null;
    readonly paired_at: string | null;
    readonly held: number;
  };
  readonly Integration: {
    readonly name: string;
    readonly user: string;
    readonly message: string | null;
    readonly created_at: string;
    readonly last_used_at: string | null;
  };
  readonly Invitation: {
    readonly id: string;
    readonly user: string;
    readonly created_at: string;
    readonly expires_at: string;
  };
  readonly Job: {
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
  readonly KeptVersion: {
    readonly version: number;
    readonly set_id: string;
    readonly change: "created" | "written" | "removed" | "moved";
    readonly bytes: number;
    readonly updated_at: string;
    readonly writer: Schemas["FileWriter"];
    readonly origins?: readonly Schemas["Origin"][];
  };
  readonly ListedServer: {
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
  readonly ListedTool: {
    readonly name: string;
    readonly about: string;
    readonly from: string;
    readonly index: string;
    readonly digest?: string;
    readonly signer?: string;
  };
  readonly LocalServer: { readonly name: string; readonly base_url: string; readonly models: readonly string[] };
  readonly McpServer: {
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
    readonly tools: readonly Schemas["McpTool"][];
  };
  readonly McpTool: {
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
  readonly ModelName: { readonly provider: string; readonly name: string };
  readonly ModelOption: {
    readonly provider: string;
    readonly name: string;
    readonly role?: "configured" | "fallback";
    readonly window?: number;
    readonly price?: { readonly input: string; readonly output: string };
    readonly retires?: string;
    readonly replaced_by?: string;
  };
  readonly ModelTest: {
    readonly ok: boolean;
    readonly model: Schemas["ModelName"];
    readonly message: string;
    readonly code?: string;
    readonly answer?: string;
    readonly millis: number;
    readonly models: readonly string[];
  };
  readonly Origin: {
    readonly kind: "tool" | "server" | "caller" | "outside" | "file" | "memory" | "page" | "skill" | "model";
    readonly name: string;
  };
  readonly OutboxEntry: {
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
  readonly PairingGate: {
    readonly type: "pairing";
    readonly id: string;
    readonly identity: string;
    readonly opened_at: string;
    readonly message: string;
  };
  readonly PairingRequest: {
    readonly code: string;
    readonly identity: string;
    readonly name: string | null;
    readonly text: string;
    readonly is_authentic: boolean;
    readonly asked_at: string;
  };
  readonly Question: {
    readonly key: string;
    readonly message: string;
    readonly schema?: Readonly<Record<string, unknown>>;
    readonly url?: string;
  };
  readonly Receipt: {
    readonly id: string;
    readonly at: string;
    readonly tool: string;
    readonly user: string;
    readonly channel?: string;
    readonly ruling?: {
      readonly verdict: "clear" | "approved" | "trusted" | "off";
      readonly doubts: readonly Schemas["Doubt"][];
    };
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
  readonly Reply: {
    readonly key: string;
    readonly action: "accept" | "decline" | "cancel";
    readonly content?: Readonly<Record<string, unknown>>;
  };
  readonly Routine: {
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
    readonly last_run: Schemas["RoutineRun"] | null;
  };
  readonly RoutineRun: {
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
  readonly SeenTool: { readonly tool: string; readonly digest: string };
  readonly ServerListing: {
    readonly date: string;
    readonly servers: readonly Schemas["ListedServer"][];
    readonly problems: readonly string[];
  };
  readonly Skill: {
    readonly name: string;
    readonly description: string;
    readonly source: "own" | "added";
    readonly from?: string;
    readonly agreed_at?: string;
    readonly allowed_tools?: readonly string[];
    readonly required_tools: readonly string[];
    readonly scripts: readonly string[];
  };
  readonly SkillProblem: { readonly folder: string; readonly why: string };
  readonly SocketFrame: {
    readonly type: "hello";
    readonly stream: string;
    readonly id: number;
    readonly user: Schemas["User"];
  } | { readonly type: "resync"; readonly stream: string; readonly id: number; readonly reason: string } | { readonly type: "alive"; readonly stream: string; readonly id: number } | {
    readonly type: "started";
    readonly id: number;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly after: string | null;
    readonly model: Schemas["ModelName"];
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
    readonly call: Schemas["ToolCall"];
  } | {
    readonly type: "tool_finished";
    readonly id: number;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly item: string;
    readonly call: Schemas["ToolCall"];
    readonly outcome: Schemas["ToolOutcome"];
    readonly attachments?: readonly Schemas["Attachment"][];
    readonly millis: number;
  } | {
    readonly type: "gate";
    readonly id: number;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly gate: Schemas["Gate"];
  } | {
    readonly type: "notice";
    readonly id: number;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly code: string;
    readonly message: string;
  } | {
    readonly type: "usage";
    readonly id: number;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly usage: Schemas["Usage"];
  } | {
    readonly type: "done";
    readonly id: number;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly status: "completed" | "waiting" | "cancelled";
    readonly turn: Schemas["Turn"];
  } | {
    readonly type: "failed";
    readonly id: number;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly code: string;
    readonly message: string;
    readonly turn: Schemas["Turn"];
  } | {
    readonly type: "titled";
    readonly id: number;
    readonly turn_id: string;
    readonly thread_id: string;
    readonly title: string;
  };
  readonly Task: {
    readonly id: string;
    readonly user: string;
    readonly parent_id: string | null;
    readonly parent_thread_id: string;
    readonly parent_turn_id: string;
    readonly depth: number;
    readonly title: string;
    readonly status: "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";
    readonly error?: { readonly code: string; readonly message: string };
    readonly background: boolean;
    readonly thread_id: string | null;
    readonly calls: readonly string[];
    readonly cost: number;
    readonly budget: number | null;
    readonly origins: readonly Schemas["Origin"][];
    readonly created_at: string;
    readonly deadline_at: string;
    readonly completed_at?: string;
  };
  readonly Thread: {
    readonly id: string;
    readonly title: string;
    readonly created_at: string;
    readonly updated_at: string;
    readonly turns: number;
    readonly channel: string;
    readonly pinned: boolean;
    readonly model: Schemas["ModelName"] | null;
    readonly gate?: Schemas["Gate"];
  };
  readonly Token: {
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
  readonly Tool: {
    readonly name: string;
    readonly version: string;
    readonly description: string;
    readonly schema: Readonly<Record<string, unknown>>;
    readonly grants: readonly string[];
    readonly writes: boolean;
    readonly hints?: Schemas["ToolHints"];
    readonly hosts?: readonly string[];
    readonly params?: Readonly<Record<string, "destination" | "content" | "selector">>;
    readonly agent_tools?: readonly string[];
    readonly fingerprint?: string;
    readonly origin?: Schemas["ToolOrigin"];
    readonly switched_off?: { readonly at: string; readonly why: string };
    readonly asks?: boolean;
    readonly server?: { readonly name: string; readonly tool: string; readonly warnings: readonly string[] };
  };
  readonly ToolCall: { readonly id: string; readonly name: string; readonly params: string };
  readonly ToolFinding: {
    readonly name: string;
    readonly digest: string;
    readonly version: string;
    readonly description: string;
    readonly schema: Readonly<Record<string, unknown>>;
    readonly grants: readonly string[];
    readonly writes: boolean;
    readonly hints?: Schemas["ToolHints"];
    readonly hosts?: readonly string[];
    readonly params?: Readonly<Record<string, "destination" | "content" | "selector">>;
    readonly replaces?: { readonly version: string; readonly added: readonly string[]; readonly removed: readonly string[] };
    readonly origin: Schemas["ToolOrigin"];
    readonly signature: string;
    readonly signed: boolean;
  };
  readonly ToolHints: { readonly read_only: boolean; readonly destructive: boolean; readonly open_world: boolean };
  readonly ToolOrigin: {
    readonly kind: "folder" | "file" | "https" | "oci" | "npm";
    readonly reference: string;
    readonly digest: string;
    readonly listed?: string;
    readonly tag?: string;
    readonly version?: string;
    readonly own_capabilities?: boolean;
    readonly signer?: string;
  };
  readonly ToolOutcome: { readonly status: "ok"; readonly output: string; readonly receipt?: string } | {
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
  readonly ToolProposal: {
    readonly digest: string;
    readonly version: string;
    readonly description: string;
    readonly schema: Readonly<Record<string, unknown>>;
    readonly grants: readonly string[];
    readonly writes: boolean;
    readonly hints?: Schemas["ToolHints"];
    readonly hosts?: readonly string[];
    readonly params?: Readonly<Record<string, "destination" | "content" | "selector">>;
    readonly replaces?: { readonly version: string; readonly added: readonly string[]; readonly removed: readonly string[] };
  };
  readonly ToolSetup: {
    readonly secrets: readonly {
      readonly name: string;
      readonly is_set: boolean;
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
    })[];
    readonly signs_in: boolean;
  };
  readonly TrustedDestination: {
    readonly value: string;
    readonly tool?: string;
    readonly user?: string;
    readonly added_at: string;
  };
  readonly Turn: {
    readonly id: string;
    readonly thread_id: string;
    readonly after: string | null;
    readonly channel: string;
    readonly status: "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";
    readonly input: Schemas["TurnInput"];
    readonly items: readonly Schemas["TurnItem"][];
    readonly model: Schemas["ModelName"];
    readonly usage: Schemas["Usage"];
    readonly created_at: string;
    readonly error?: { readonly code: string; readonly message: string };
    readonly gate?: Schemas["Gate"];
    readonly incomplete?: "max_output_tokens" | "content_filter";
    readonly completed_at?: string;
  };
  readonly TurnInput: {
    readonly type: "message";
    readonly text: string;
    readonly attachments?: readonly Schemas["Attachment"][];
  } | { readonly type: "tool_output"; readonly call: string; readonly output: string } | {
    readonly type: "tool_outputs";
    readonly outputs: readonly {
      readonly call: string;
      readonly output: string;
      readonly attachments?: readonly Schemas["Attachment"][];
    }[];
    readonly text?: string;
    readonly attachments?: readonly Schemas["Attachment"][];
  } | {
    readonly type: "approval";
    readonly gate: string;
    readonly decision: "once" | "always" | "destination" | "deny";
  } | { readonly type: "authentication"; readonly gate: string; readonly decision: "done" | "deny" } | { readonly type: "question"; readonly gate: string; readonly replies: readonly Schemas["Reply"][] };
  readonly TurnItem: {
    readonly type: "message";
    readonly id: string;
    readonly role: "user" | "assistant" | "system";
    readonly text: string;
    readonly attachments?: readonly Schemas["Attachment"][];
    readonly needs_model?: boolean;
    readonly origins?: readonly Schemas["Origin"][];
  } | {
    readonly type: "tool_call";
    readonly id: string;
    readonly call: Schemas["ToolCall"];
    readonly external: boolean;
  } | {
    readonly type: "tool_result";
    readonly id: string;
    readonly call: string;
    readonly outcome: Schemas["ToolOutcome"];
    readonly attachments?: readonly Schemas["Attachment"][];
    readonly origins?: readonly Schemas["Origin"][];
  } | { readonly type: "reasoning"; readonly id: string; readonly text: string; readonly millis?: number };
  readonly TurnVersions: {
    readonly turn_id: string;
    readonly versions: readonly { readonly id: string; readonly message: number }[];
  };
  readonly UndoOutcome: {
    readonly set?: Schemas["ChangeSet"];
    readonly conflicts: readonly { readonly path: string; readonly by: Schemas["FileWriter"]; readonly at: string }[];
  };
  readonly Upload: {
    readonly id: string;
    readonly kind: "image" | "file" | "audio";
    readonly mime: string;
    readonly size: number;
    readonly name: string;
    readonly detail?: string;
    readonly text?: { readonly bytes: number; readonly shown?: number };
    readonly note?: string;
  };
  readonly Usage: {
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
  readonly UsedStorage: {
    readonly bytes: number;
    readonly max_bytes: number;
    readonly kinds: Readonly<Record<string, number>>;
  };
  readonly User: { readonly id: string; readonly role: "operator" | "user"; readonly name?: string };
}
