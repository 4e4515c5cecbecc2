import { publicUrl } from '../api/base-url.ts';

/** A page or an action of it, for a terminal. */
export interface Command {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base path, with its query. */
  path: string;
  body?: unknown;
  /** The same command for `hw`; absent if it has none. */
  hw?: string;
}

export function curlOf({ method = 'GET', path, body }: Command): string {
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method]), shellQuote(publicUrl(path))];
  parts.push('-H', '"Authorization: Bearer $HEADWATER_API_KEY"');
  if (body !== undefined) parts.push('-H', "'Content-Type: application/json'", '-d', shellQuote(JSON.stringify(body)));
  return parts.join(' ');
}

type Option = string | number | boolean | undefined | readonly string[];

/** A command line of `hw`. Options without a value are left out, of flags those that are false. */
export function hwLine(words: readonly string[], options: Readonly<Record<string, Option>> = {}): string {
  const given = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === false || value === '') return [];
    if (value === true) return [`--${name}`];
    const values = typeof value === 'object' ? value : [String(value)];
    return values.flatMap((one) => [`--${name}`, shellWord(one)]);
  });
  return ['hw', ...words.map(shellWord), ...given].join(' ');
}

/** The same, with JSON on its standard input. */
export function hwWithInput(
  input: string,
  words: readonly string[],
  options: Readonly<Record<string, Option>>,
): string {
  return `echo ${shellQuote(input)} | ${hwLine(words, options)}`;
}

/** The list of a page. `text`: what its search box has. Empty: all, as for `owner`. */
export function listCommand(noun: 'sources' | 'workflows' | 'webhooks', text: string, owner = ''): Command {
  const filter = { ...(text === '' ? {} : { q: text }), ...(owner === '' ? {} : { owner }) };
  const query = new URLSearchParams({ limit: '50', ...filter });
  return { path: `/v1/users/me/${noun}?${query.toString()}`, hw: hwLine(['list', noun], { named: text, owner }) };
}

/** `hw` takes times as people write them, the API also epoch milliseconds. */
export function isoOf(time: string | number | undefined): string | undefined {
  if (time === undefined || !/^\d+$/.test(String(time))) return time?.toString();
  return new Date(Number(time)).toISOString();
}

/** The JSON of a field, or its text while it is none yet. */
export function textOrJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text === '' ? undefined : text;
  }
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : shellQuote(text);
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
