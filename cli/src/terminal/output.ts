import { type CliError, type ErrorField } from '../cli-error.ts';
import type { Answer } from '../answer.ts';
import { EXIT } from '../exit-codes.ts';
import type { OutputStream } from './output-stream.ts';
import { createProgress, type Progress } from './progress.ts';
import { safeJson, safeLine, safeStyled, safeText } from './safe-text.ts';
import { createStyle, type Style } from './style.ts';
import { type Column, renderFields, renderTable } from './table.ts';

export interface OutputOptions {
  stdout: OutputStream;
  stderr: OutputStream;
  json: boolean;
  quiet: boolean;
  /** Undefined: where the stream is a terminal. */
  colors: boolean | undefined;
}

/** Writes results to stdout and all other messages to stderr. */
export interface Output {
  json: boolean;
  quiet: boolean;
  /** People read stdout. */
  forTerminal: boolean;
  /** Style for stdout. */
  style: Style;
  answer(answer: Answer): void;
  /** One record of a command that follows something. */
  record(value: unknown, text: string): void;
  /** On stderr; not with --json or --quiet. */
  note(text: string): void;
  warn(text: string): void;
  error(error: CliError): void;
  /** Runs `work`, with a spinner on a terminal. */
  progress<T>(text: string, work: (progress: Progress) => Promise<T>): Promise<T>;
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): string;
  fields(fields: readonly (readonly [string, string | null | undefined])[]): string;
}

export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr, json, quiet } = options;
  const colors = { stdout: options.colors ?? stdout.isTTY === true, stderr: options.colors ?? stderr.isTTY === true };
  const style = createStyle(colors.stdout);
  const errorStyle = createStyle(colors.stderr);
  // A second check: commands already make foreign text harmless, and this catches what one forgets.
  const clean = (text: string, styled: boolean) => (styled ? safeStyled(text) : safeText(text));
  const print = (text: string) => void stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  const write = (text: string) => print(clean(text, colors.stdout));
  const progress = createProgress(stderr, stderr.isTTY === true && !json && !quiet);
  const say = (text: string) => progress.around(() => void stderr.write(`${clean(text, colors.stderr)}\n`));
  return {
    json,
    quiet,
    forTerminal: stdout.isTTY === true,
    style,
    answer({ json: value, text, quiet: id }) {
      if (json) print(jsonText(value, 2));
      else if (quiet && id !== undefined) {
        if (id !== '') write(id);
      } else if (text !== undefined && text !== '') write(text);
    },
    record: (value, text) => (json ? print(jsonText(value)) : write(text)),
    note(text) {
      if (!json && !quiet) say(text);
    },
    warn: (text) => say(`${errorStyle.yellow('warning:')} ${text}`),
    error(error) {
      say(json ? jsonText({ error: errorDocument(error) }, 2) : renderError(error, errorStyle));
    },
    progress: (text, work) => progress.during(text, work),
    table(rows, columns) {
      // A terminal that does not know its width says 0.
      const width = stdout.columns || undefined;
      return renderTable(rows, columns, { style, aligned: stdout.isTTY === true, width });
    },
    fields: (fields) => renderFields(fields, style),
  };
}

/**
 * `JSON.stringify` leaves the control characters of Latin-1 as they are. `null`: a server that
 * should have said something.
 */
function jsonText(value: unknown, indent = 0): string {
  return safeJson(JSON.stringify(value, null, indent) ?? 'null');
}

/** The shape of every error under --json. */
function errorDocument({ code, message, hint, exit, fields, requestId }: CliError): Record<string, unknown> {
  return {
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(fields.length === 0 ? {} : { fields }),
    exit_code: EXIT[exit],
    ...(requestId === undefined ? {} : { request_id: requestId }),
  };
}

function renderError({ message, hint, fields, requestId }: CliError, style: Style): string {
  const headline = fields.find((one) => isHeadline(one, message));
  const told = headline === undefined ? message : `${placeOf(headline)} ${headline.message}`;
  const lines = [`${style.red('error:')} ${safeText(told)}`];
  for (const field of fields.filter((one) => one !== headline && !isRepeated(one, message)))
    lines.push(`  ${style.bold(placeOf(field))} ${safeText(field.message)}`);
  if (hint !== undefined) lines.push(`  ${style.cyan('→')} ${safeText(hint)}`);
  if (requestId !== undefined) lines.push(`  ${style.dim(`request ${safeLine(requestId)}`)}`);
  return lines.join('\n');
}

/** The sentence above is that of one place, without its column. */
function isHeadline({ message: text, file, line }: ErrorField, message: string): boolean {
  return file !== undefined && message === `${file}:${line}: ${text}`;
}

/** If only one field is wrong, the server repeats its message in the sentence above. */
function isRepeated({ path, message: text, file }: ErrorField, message: string): boolean {
  return file === undefined && message.includes(text) && (message === text || message.includes(path));
}

function placeOf({ path, file, line, column }: ErrorField): string {
  if (file === undefined) return `${safeLine(path)}:`;
  // Columns count from 0 in the API, and from 1 where editors read such a place.
  return `${safeLine(file)}${line === undefined ? '' : `:${line}`}${column === undefined ? '' : `:${column + 1}`}:`;
}
