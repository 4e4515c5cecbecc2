import type { FieldError } from '@headwater/shared';
import type { Message } from 'esbuild';
import { ownNameOf } from './component-files.ts';

/** Messages quote the code, and the names in it are as long as its author likes. */
const MAX_MESSAGE_CHARS = 2_000;

/** An error of the bundler as the API shows it: the author's file, 1-based line, 0-based column. */
export function toFieldError(message: Message, defaultFile?: string): FieldError {
  const error: FieldError = { path: 'component_code', message: message.text.slice(0, MAX_MESSAGE_CHARS) };
  const { location } = message;
  if (location === null) return defaultFile === undefined ? error : { ...error, file: defaultFile };
  return {
    ...error,
    file: ownNameOf(location.file) ?? location.file.replace(/^headwater-\w+:|!\.\w+$/g, ''),
    line: location.line,
    column: location.column,
  };
}
