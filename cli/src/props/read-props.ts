import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type CliError, usageError } from '../cli-error.ts';
import type { CommandInput } from '../command-input.ts';
import type { OptionSpec } from '../command.ts';
import { parseTimer, parseTyped } from './parse-typed.ts';
import { parseExactJson } from '../exact-json.ts';

export const PROP_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'prop',
    value: 'name=value',
    summary:
      'A value for a prop, as JSON or else as text; of a list also with commas between. May be repeated. `name=@file` reads the value from a file.',
    repeatable: true,
  },
  {
    name: 'props',
    value: 'file',
    summary: 'Values for props as a JSON object; --prop goes before it.',
    completes: 'files',
  },
];

/** Types of the component's props, if known. They decide how text is parsed. */
export type PropTypes = ReadonlyMap<string, string>;

export function typesOf(definitions: readonly { name: string; type: string }[] = []): PropTypes {
  return new Map(definitions.map(({ name, type }) => [name, type]));
}

/** Merges --props and --prop. */
export async function readProps(
  input: CommandInput,
  workDir: string,
  types: PropTypes = new Map(),
): Promise<Record<string, unknown>> {
  const file = input.text('props');
  const props = file === undefined ? {} : await readJsonFile(path.resolve(workDir, file), '--props');
  for (const pair of input.list('prop')) {
    const at = pair.indexOf('=');
    if (at < 1) throw usageError(`--prop ${pair} has no value`, 'Write it as --prop name=value');
    const name = pair.slice(0, at);
    props[name] = await readValue(pair.slice(at + 1), types.get(name), workDir);
  }
  return props;
}

async function readValue(text: string, type: string | undefined, workDir: string): Promise<unknown> {
  if (text.startsWith('@') && text.length > 1) {
    const content = await readTextFile(path.resolve(workDir, text.slice(1)));
    return type === 'string' ? content : parseOrText(content);
  }
  // `42` is text for a prop that wants text.
  if (type === 'string') return text;
  if (type?.endsWith('[]') === true && text !== 'null') return listOf(text, type);
  return shorthandOf(parseOrText(text), type);
}

/** Accepts `a,b` and `["a","b"]`; the server validates other text. */
function listOf(text: string, type: string): unknown {
  const { value, problem } = parseTyped(text, type);
  return problem === undefined ? value : parseOrText(text);
}

/**
 * Shorthand for values that are objects in the API: an account by id, a timer by seconds or cron.
 */
function shorthandOf(value: unknown, type: string | undefined): unknown {
  if (type === 'app' && typeof value === 'string') return { authProvisionId: value };
  const isTimer = type === '$.interface.timer' && (typeof value === 'string' || typeof value === 'number');
  return isTimer ? parseTimer(String(value)) : value;
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, so it is meant as it stands.
    return text;
  }
}

/** A JSON object from a file. Errors name the file and the position. */
export async function readJsonFile(file: string, what: string): Promise<Record<string, unknown>> {
  const value = parseJsonOfFile(await readTextFile(file), file);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw usageError(`${what}: ${file} holds no JSON object`);
}

/** Throws with the file's name and what the parser says. */
export function parseJsonOfFile(text: string, file: string): unknown {
  try {
    return parseExactJson(text);
  } catch (cause) {
    throw usageError(`${file} is not JSON: ${(cause as Error).message}`);
  }
}

export async function readTextFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw fileError(file, cause);
  }
}

function fileError(file: string, cause: unknown): CliError {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT') return usageError(`There is no file ${file}`);
  if (code === 'EISDIR') return usageError(`${file} is a folder`);
  return usageError(`${file} cannot be read: ${message}`);
}
