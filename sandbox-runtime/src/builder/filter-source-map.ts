import { ownNameOf } from './component-files.ts';

interface RawMap {
  version: number;
  sources: string[];
  names: string[];
  mappings: string;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map(Array.from(DIGITS, (digit, value) => [digit.charCodeAt(0), value]));

/**
 * Filters a source map. It keeps mappings to the author's files, and to their originals through a
 * map that an author's file contains. Sources that `isForeign` accepts are code of packages: their
 * mappings get no source. Without the mapping, the previous author's line would be taken for
 * theirs. The map of a bundle with large packages shrinks to a few kilobytes.
 *
 * Format: https://tc39.es/ecma426/ (mappings of one, four or five base-64 VLQ fields, each a
 * difference to the one before).
 */
export function filterSourceMap(mapJson: string, isForeign: (source: string) => boolean): string {
  const map = JSON.parse(mapJson) as RawMap;
  const kept = new Map<number, number>();
  for (const [index, source] of map.sources.entries()) if (!isForeign(source)) kept.set(index, kept.size);
  const sources = map.sources.filter((_, index) => kept.has(index)).map(nameOf);
  return JSON.stringify({ version: 3, sources, names: [], mappings: filterMappings(map.mappings, kept) });
}

function nameOf(source: string): string {
  return ownNameOf(source) ?? source.replace(/^(\.\.?\/)+/, '');
}

/** A segment of the original: the fields it has, as absolute values. */
interface Position {
  source: number;
  line: number;
  column: number;
}

function filterMappings(mappings: string, kept: ReadonlyMap<number, number>): string {
  const from: Position = { source: 0, line: 0, column: 0 };
  const to: Position = { source: 0, line: 0, column: 0 };
  const lines: string[] = [];
  let wasOwn = true;
  for (const line of mappings.split(';')) {
    const segments: string[] = [];
    let fromColumn = 0;
    let toColumn = 0;
    for (const segment of line === '' ? [] : line.split(',')) {
      const [column = 0, source, originalLine = 0, originalColumn = 0] = decode(segment);
      fromColumn += column;
      if (source !== undefined) {
        from.source += source;
        from.line += originalLine;
        from.column += originalColumn;
      }
      const index = source === undefined ? undefined : kept.get(from.source);
      if (index === undefined && !wasOwn) continue;
      let text = encode(fromColumn - toColumn);
      toColumn = fromColumn;
      if (index !== undefined) {
        text += encode(index - to.source) + encode(from.line - to.line) + encode(from.column - to.column);
        to.source = index;
        to.line = from.line;
        to.column = from.column;
      }
      wasOwn = index !== undefined;
      segments.push(text);
    }
    lines.push(segments.join(','));
  }
  return lines.join(';');
}

function decode(segment: string): number[] {
  const fields: number[] = [];
  let value = 0;
  let shift = 0;
  for (let i = 0; i < segment.length; i++) {
    const digit = VALUES.get(segment.charCodeAt(i)) ?? 0;
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    fields.push(value % 2 === 1 ? -Math.floor(value / 2) : value / 2);
    value = 0;
    shift = 0;
  }
  return fields;
}

function encode(field: number): string {
  let rest = field < 0 ? -field * 2 + 1 : field * 2;
  let text = '';
  do {
    const more = rest >= 32 ? 32 : 0;
    text += DIGITS.charAt((rest % 32) + more);
    rest = Math.floor(rest / 32);
  } while (rest > 0);
  return text;
}
