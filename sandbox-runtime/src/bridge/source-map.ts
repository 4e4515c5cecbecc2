/** The part of a source map (https://tc39.es/ecma426/) that leads back to files. */
export interface SourceMap {
  sources: string[];
  mappings: string;
}

/**
 * A larger map is not sent along with its bundle. Stacks are then mapped only where they leave the
 * sandbox. Dense code of maxComponentCodeBytes has a map of 1.6 MB.
 */
export const MAX_SENT_MAP_CHARS = 2 * 1024 * 1024;

/**
 * A map that cannot be read maps nothing: the message of an error is worth more than its place.
 * Runs in isolates too.
 */
export function readMap(json: string, parse: (text: string) => unknown = JSON.parse): SourceMap | undefined {
  try {
    const { sources, mappings } = parse(json) as Partial<SourceMap>;
    const areNames = Array.isArray(sources) && sources.every((source) => typeof source === 'string');
    return areNames && typeof mappings === 'string' ? { sources, mappings } : undefined;
  } catch {
    return undefined;
  }
}
