/**
 * Text of others (names, logs, events) without what steers a terminal: escape sequences could repaint what was written
 * before, change the clipboard or answer as if the user had typed. Line breaks and tabs stay.
 */
export function safeText(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, (char) => {
    if (char === '\r') return '';
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** The same on one line. */
export function safeLine(text: string): string {
  return safeText(text)
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('\t', ' ');
}
