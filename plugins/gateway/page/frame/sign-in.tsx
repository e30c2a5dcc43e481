import { useState } from "preact/hooks";
import type { SignInQuestion } from "../state/app.ts";
import { useApp } from "../state/use-app.ts";
import { resume, signIn } from "./session.ts";

export function SignIn() {
  const { trouble } = useApp();
  const [token, setToken] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) void signIn(token.trim());
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <img src="/icon.svg" alt="" />
        <h1>Sign in to Postern</h1>
        <p class="soft">
          Open the link that Postern prints when it starts, or paste a token: your own, or the operator's from
          the file <code>webui-token</code> in the service home.
        </p>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Sign in
        </button>
        {trouble && (
          <p class="trouble" role="alert">
            {trouble}
          </p>
        )}
      </form>
    </main>
  );
}

/** Asks before a link signs this browser in as somebody else. */
export function ConfirmSignIn({ question: { token, words, isSignedIn } }: { question: SignInQuestion }) {
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn(token, true);
        }}
      >
        <img src="/icon.svg" alt="" />
        <h1>Use this link?</h1>
        <p role="alert">{words}</p>
        <p class="soft">
          Whoever sent you the link can read what you write there. Continue only if you expected it.
        </p>
        <button type="button" class="primary" onClick={() => void resume()}>
          {isSignedIn ? "Stay signed in as I am" : "Do not sign in"}
        </button>
        <button type="submit">Use the link</button>
      </form>
    </main>
  );
}
