import { useState } from 'react';

export type Theme = 'light' | 'dark' | 'system';

const KEY = 'headwater.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
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
