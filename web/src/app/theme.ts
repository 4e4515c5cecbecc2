import { useState } from 'react';
import { applyAccent, portal } from './portal.ts';

export type Theme = 'light' | 'dark' | 'system';

const KEY = 'headwater.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
  // In a frame there may be no storage.
  if (portal !== undefined) return portal.mode ?? 'system';
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}

function apply(theme: Theme): void {
  const isDark = theme === 'dark' || (theme === 'system' && prefersDark.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
}

/** Once, before anything is shown. */
export function startTheme(): void {
  apply(stored());
  if (portal !== undefined) applyAccent(portal);
  prefersDark.addEventListener('change', () => apply(stored()));
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(stored);
  return [
    theme,
    (next) => {
      localStorage.setItem(KEY, next);
      apply(next);
      setTheme(next);
    },
  ];
}
