import type { SignInQuestion } from "../state/app.ts";
import { useApp } from "../state/use-app.ts";
import { text } from "../text/text.ts";
import { Button, Form } from "../widgets/controls.tsx";
import { resume, signIn } from "./session.ts";

export function SignIn() {
  const { trouble } = useApp();
  return (
    <main class="sign-in">
      <Form onSubmit={({ token = "" }) => token.trim() && signIn(token.trim())}>
        <img src="/icon.svg" alt="" />
        <h1>{text.frame.signInTitle}</h1>
        <p class="soft">{text.frame.signInWords(<code key="file">webui-token</code>)}</p>
        <label for="token">{text.frame.token}</label>
        <input id="token" name="token" type="password" autocomplete="current-password" />
        <Button label={text.frame.signIn} type="submit" class="primary" />
        {trouble && (
          <p class="trouble" role="alert">
            {trouble}
          </p>
        )}
      </Form>
    </main>
  );
}

const isInvitation = (token: string) => token.startsWith("postern_invite_");

/** Asks before a link signs this browser in as somebody else. An invitation is expected, so going on is the main button. */
export function ConfirmSignIn({ question: { token, words, isSignedIn } }: { question: SignInQuestion }) {
  const isInvited = isInvitation(token);
  return (
    <main class="sign-in">
      <Form onSubmit={() => signIn(token, true)}>
        <img src="/icon.svg" alt="" />
        <h1>{isInvited ? text.frame.invited : text.frame.useLinkTitle}</h1>
        <p role="alert">{words}</p>
        <p class="soft">{isInvited ? text.frame.invitedWords : text.frame.useLinkWords}</p>
        {isInvited && <Button label={text.frame.acceptInvitation} type="submit" class="primary" />}
        <Button
          label={isSignedIn ? text.frame.staySignedIn : text.frame.doNotSignIn}
          class={isInvited ? "" : "primary"}
          onClick={() => resume()}
        />
        {!isInvited && <Button label={text.frame.useLink} type="submit" />}
      </Form>
    </main>
  );
}
