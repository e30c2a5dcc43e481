/** A parsed capabilities file: everything a tool may do. The file has snake_case names, the code uses these. */
export interface Capabilities {
  readonly version: string;
  readonly witVersion: string;
  readonly http: HttpCapabilities | undefined;
  readonly limits: { readonly memoryMb: number; readonly timeoutSecs: number };
  readonly secretNames: readonly string[];
  readonly auth: AuthSetup | undefined;
  readonly requiredSecrets: readonly RequiredSecret[];
  /** The role of each param, by its name; the roles of others are guessed. */
  readonly params: Readonly<Record<string, ParamRole>>;
}

/** A param says where a call goes, what it carries there, or which thing it is about. */
export type ParamRole = "destination" | "content" | "selector";

export interface HttpCapabilities {
  readonly allowlist: readonly AllowRule[];
  readonly rateLimit: { readonly perMinute: number; readonly perHour: number };
  readonly timeoutSecs: number;
  readonly credentials: readonly Credential[];
}

export interface AllowRule {
  readonly host: string;
  readonly pathPrefix: string;
  readonly methods: readonly string[];
}

export interface Credential {
  /** The key in `http.credentials`. */
  readonly name: string;
  readonly secretName: string;
  readonly location: CredentialLocation;
  readonly hostPatterns: readonly string[];
}

export type CredentialLocation =
  | { readonly type: "bearer" }
  | { readonly type: "basic"; readonly username: string }
  | { readonly type: "header"; readonly name: string; readonly prefix: string }
  | { readonly type: "query_param"; readonly name: string }
  | { readonly type: "url_path"; readonly placeholder: string };

export interface AuthSetup {
  readonly secretName: string;
  readonly displayName: string;
  readonly instructions: string;
  readonly setupUrl: string | undefined;
  readonly tokenHint: string | undefined;
  readonly envVar: string | undefined;
  readonly oauth: OAuthSetup | undefined;
}

export interface OAuthSetup {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string | undefined;
  readonly clientIdSecret: string | undefined;
  readonly clientSecretSecret: string | undefined;
  readonly scopes: readonly string[];
}

export interface RequiredSecret {
  readonly name: string;
  readonly prompt: string;
}
