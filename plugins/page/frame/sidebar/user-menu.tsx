/** The person who is signed in, and what is theirs to choose. */

import ChevronsUpDown from "lucide/dist/esm/icons/chevrons-up-down.mjs";
import Keyboard from "lucide/dist/esm/icons/keyboard.mjs";
import LogOut from "lucide/dist/esm/icons/log-out.mjs";
import { useState } from "preact/hooks";
import { PAGES } from "../../pages/pages.tsx";
import { canNotify, isNotifying, switchNotifications } from "../../state/notifications.ts";
import { useApp } from "../../state/use-app.ts";
import { chooseLanguage, chosenLanguage, LANGUAGES, type LanguageChoice } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Button, Select } from "../../widgets/controls.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { ThemeChoice } from "../../widgets/theme.tsx";
import { openSheet } from "../commands/commands.tsx";
import { signOut } from "../session.ts";

const ID = "user-menu";
const HIDE = { popovertarget: ID, popovertargetaction: "hide" } as const;

/** The browser shows the menu above everything, and closes it on Esc or a press outside. */
export function UserMenu() {
  const { user, status, connected } = useApp();
  const [isOpen, setOpen] = useState(false);
  const name = user?.name ?? user?.id ?? "";
  const isOperator = user?.role === "operator";
  return (
    <>
      <button
        type="button"
        class="plain account"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        popovertarget={ID}
      >
        <span class="avatar" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <span class="unseen">{text.frame.account}: </span>
        <span class="who">
          <b dir="auto">{name}</b>
          <span class="soft">
            {connected === false
              ? text.frame.reconnecting
              : text.people.roles[isOperator ? "operator" : "user"]}
          </span>
        </span>
        <Icon of={ChevronsUpDown} />
      </button>
      <div
        id={ID}
        class="popup user-menu"
        popover="auto"
        role="dialog"
        aria-label={text.frame.account}
        onToggle={({ newState }) => setOpen(newState === "open")}
      >
        <ThemeChoice />
        <span class="choice">
          <label for="language">{text.frame.language}</label>
          <Select
            id="language"
            options={{ system: text.frame.likeBrowser, ...LANGUAGES }}
            value={chosenLanguage(user?.id ?? "")}
            onValue={(choice) => chooseLanguage(user?.id ?? "", choice as LanguageChoice)}
          />
        </span>
        <Notifications />
        <hr />
        {PAGES.filter(({ group }) => group === "own" || (group === "more" && !isOperator)).map((page) => (
          <a
            key={page.name}
            href={`#/${page.name}`}
            onClick={() => document.getElementById(ID)?.hidePopover()}
          >
            <Icon of={page.icon} />
            {page.title}
          </a>
        ))}
        <Button label={text.frame.shortcuts} icon={Keyboard} class="plain" {...HIDE} onClick={openSheet} />
        <Button label={text.frame.signOut} icon={LogOut} class="plain" {...HIDE} onClick={() => signOut()} />
        <p class="soft">{text.frame.version(status?.version ?? "")}</p>
      </div>
    </>
  );
}

/** The browser asks for permission only when this is pressed. */
function Notifications() {
  const [isOn, setOn] = useState(isNotifying);
  if (!canNotify()) return null;
  return (
    <label class="check" title={text.frame.notificationsHelp}>
      <input type="checkbox" checked={isOn} onChange={async () => setOn(await switchNotifications(!isOn))} />
      {text.frame.notifications}
    </label>
  );
}
