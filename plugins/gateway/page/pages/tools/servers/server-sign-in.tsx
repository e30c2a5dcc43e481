import { attempt } from "../../../state/app.ts";
import { ask, type McpServer } from "../../../state/wire.ts";

interface ServerSignInProps {
  readonly server: McpServer;
  readonly isOperator: boolean;
  onChanged(): void;
}

/** Signs in to a server, or takes a pasted token: for the user, or by the operator for everybody. */
export function ServerSignIn({ server, isOperator, onChanged }: ServerSignInProps) {
  const { name, signs_in: signsIn, is_signed_in: isSignedIn, per_user: perUser } = server;
  const path = `/api/mcp/servers/${name}`;
  if (!signsIn) return null;
  const change = async (work: () => Promise<unknown>) => {
    await attempt(work);
    onChanged();
  };
  const signIn = async () => {
    const begun = await attempt(() => ask<{ url: string }>("POST", `${path}/sign-in`));
    if (begun) open(begun.url, "_blank", "noopener");
  };
  const save = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { token } = Object.fromEntries(new FormData(form));
    form.reset();
    void change(() => ask("PUT", `${path}/token`, { token }));
  };
  const whose = perUser ? "You are" : "All users are";
  const mayChange = perUser || isOperator;
  return (
    <>
      <span class="row">
        {isSignedIn
          ? `${whose} signed in.`
          : `${whose} not signed in${mayChange ? "" : "; the operator can do that"}.`}
        {mayChange && (
          <button type="button" aria-label={`Sign in at ${name}`} onClick={() => void signIn()}>
            Sign in
          </button>
        )}
        {mayChange && isSignedIn && (
          <button type="button" onClick={() => void change(() => ask("DELETE", `${path}/token`))}>
            Sign out
          </button>
        )}
      </span>
      {mayChange && (
        <details>
          <summary>Paste a token instead</summary>
          <form class="row" onSubmit={save}>
            <input
              name="token"
              type="password"
              required
              autocomplete="off"
              aria-label={`Token for ${name}`}
            />
            <button type="submit">Save</button>
          </form>
        </details>
      )}
    </>
  );
}
