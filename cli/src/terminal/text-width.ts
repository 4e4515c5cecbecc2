import { stripVTControlCharacters } from 'node:util';

/** East Asian letters and pictures take two cells of a terminal. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;
/** Characters that combine with the one before them and take no width. */
const NOTHING = /^[\p{Mark}\p{Format}]+$/u;

const PLAIN = /^[\x20-\x7E]*$/;

let segmenter: Intl.Segmenter | undefined;

/** Made when it is needed: that takes as long as loading a tenth of the commands. */
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Cells of a terminal. */
export function textWidth(text: string): number {
  const shown = stripVTControlCharacters(text);
  if (PLAIN.test(shown)) return shown.length;
  let width = 0;
  for (const { segment } of graphemes(shown)) width += widthOf(segment);
  return width;
}

/** The beginning that has room, with `…` where something is left out. Without escape sequences. */
export function shorten(text: string, maxWidth: number): string {
  if (textWidth(text) <= maxWidth) return text;
  let [kept, width] = ['', 0];
  for (const { segment } of graphemes(text)) {
    width += widthOf(segment);
    if (width > maxWidth - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function widthOf(segment: string): number {
  if (WIDE.test(segment)) return 2;
  return NOTHING.test(segment) ? 0 : 1;
}
