import Monitor from "lucide/dist/esm/icons/monitor.mjs";
import Moon from "lucide/dist/esm/icons/moon.mjs";
import Sun from "lucide/dist/esm/icons/sun.mjs";
import { useState } from "preact/hooks";
import { text } from "../text/text.ts";
import { Icon } from "./icon.tsx";

const THEMES = [
  ["system", Monitor],
  ["light", Sun],
  ["dark", Moon],
] as const;

export function ThemeChoice() {
  const [theme, setTheme] = useState(currentTheme);
  const choose = (chosen: Theme) => {
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <fieldset class="choice segments">
      <legend>{text.frame.theme}</legend>
      {THEMES.map(([value, icon]) => (
        <label key={value} title={text.frame.themes[value]}>
          <input
            type="radio"
            name="theme"
            class="unseen"
            checked={theme === value}
            onChange={() => choose(value)}
          />
          <Icon of={icon} />
          <span class="unseen">{text.frame.themes[value]}</span>
        </label>
      ))}
    </fieldset>
  );
}

type Theme = "system" | "light" | "dark";

const KEY = "postern.theme";

function currentTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyTheme(theme: Theme = currentTheme()): void {
  localStorage.setItem(KEY, theme);
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
