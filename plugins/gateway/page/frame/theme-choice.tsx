import { useState } from "preact/hooks";
import { applyTheme, currentTheme, type Theme } from "./theme.ts";

export function ThemeChoice() {
  const [theme, setTheme] = useState(currentTheme);
  const choose = (chosen: Theme) => {
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <select aria-label="Theme" value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
      <option value="system">Auto</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
