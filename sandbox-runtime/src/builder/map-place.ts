import { findSegments } from '../bridge/find-segments.ts';

/** Line from 1, column from 0. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

const MAP_COMMENT = '//# sourceMappingURL=data:application/json;base64,';
const MAX_NAME_CHARS = 500;

/**
 * Maps a place in the author's file through the inline source map at its end. Without a map it
 * returns the place itself.
 */
export function mapPlace(place: Place, text: string): Place {
  const begin = text.lastIndexOf(MAP_COMMENT);
  if (begin === -1) return place;
  const map = readMap(text.slice(begin + MAP_COMMENT.length).trim());
  const [segment] =
    map === undefined ? [] : findSegments(map.mappings, [{ line: place.line - 1, column: place.column }]);
  const file: unknown = segment?.source === undefined ? undefined : map?.sources[segment.source];
  if (segment === undefined || typeof file !== 'string') return place;
  const name = file.slice(-MAX_NAME_CHARS).replace(/^(\.\.?\/)+/, '');
  return { file: name, line: segment.line + 1, column: segment.column };
}

function readMap(base64: string): { sources: unknown[]; mappings: string } | undefined {
  try {
    const map = JSON.parse(Buffer.from(base64, 'base64').toString()) as {
      sources?: unknown;
      mappings?: unknown;
    } | null;
    const { sources, mappings } = map ?? {};
    return Array.isArray(sources) && typeof mappings === 'string' ? { sources, mappings } : undefined;
  } catch {
    // It maps nothing then: the message is worth more than its place.
    return undefined;
  }
}
