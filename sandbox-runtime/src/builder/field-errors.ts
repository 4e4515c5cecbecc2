import type { FieldError } from '@headwater/shared';
import type { Message } from 'esbuild';
import { type ComponentFiles, ownNameOf } from './component-files.ts';
import { mapPlace } from './map-place.ts';

/** Messages quote the code, and the names in it are as long as its author likes. */
const MAX_MESSAGE_CHARS = 2_000;

/**
 * An error of the bundler as the API shows it: the author's file, 1-based line, 0-based column.
 * Where that file was made of others and brings their source map, it is a place in one of these.
 * `defaultFile` is for errors without a place.
 */
export function toFieldError(message: Message, { files }: ComponentFiles, defaultFile?: string): FieldError {
  const error: FieldError = { path: 'component_code', message: message.text.slice(0, MAX_MESSAGE_CHARS) };
  const { location } = message;
  if (location === null) return defaultFile === undefined ? error : { ...error, file: defaultFile };
  const own = ownNameOf(location.file);
  const { line, column } = location;
  if (own !== undefined) return { ...error, ...mapPlace({ file: own, line, column }, files[own] ?? '') };
  return { ...error, file: location.file.replace(/^headwater-\w+:|!\.\w+$/g, ''), line, column };
}
