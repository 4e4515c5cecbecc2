/**
 * uPlot makes a number format of the browser's language as it loads, and throws where that is no
 * language tag: a Chromium of a machine with the locale POSIX says `en-US@posix`.
 */
export function requireKnownLanguage(): void {
  if (isKnown(navigator.language)) return;
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}

function isKnown(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
}
