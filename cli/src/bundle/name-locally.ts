import path from 'node:path';
import { CliError, type ErrorField } from '../cli-error.ts';
import { COMPONENT_FILE } from './component-file.ts';

/** Name that the server gives to a single file. */
const SENT_AS = 'component.mjs';
const PLACE = /\bcomponent\.mjs(?=:\d)/g;

/**
 * Text of the server with the name that the file has here. `word`: what the user has named, which
 * may be no file.
 */
export function nameLocally(text: string, word: string): string {
  return COMPONENT_FILE.test(word) ? text.replaceAll(PLACE, () => path.basename(word)) : text;
}

/** Renames the server's file to the local one in errors of `work`. */
export async function namingLocally<T>(word: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof CliError ? renamed(error, word) : error;
  }
}

function renamed(error: CliError, word: string): CliError {
  const { exit, message, hint, code, fields, requestId } = error;
  const field = (one: ErrorField): ErrorField => ({
    ...one,
    message: nameLocally(one.message, word),
    ...(one.file === SENT_AS && COMPONENT_FILE.test(word) ? { file: path.basename(word) } : {}),
  });
  return new CliError(exit, nameLocally(message, word), {
    code,
    fields: fields.map(field),
    ...(hint === undefined ? {} : { hint }),
    ...(requestId === undefined ? {} : { requestId }),
    cause: error,
  });
}
