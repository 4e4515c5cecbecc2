import path from 'node:path';
import { CliError, type ErrorField } from '../cli-error.ts';
import { readTextFile } from '../props/read-props.ts';

export const STACK_FILES = ['headwater.yaml', 'headwater.yml', 'headwater.json'] as const;
const DEFAULT_STACK = 'default';

export type Fields = Record<string, unknown>;

/** One thing that a folder describes. */
export interface Described {
  kind: Kind;
  /** Its name in the file. */
  key: string;
  fields: Fields;
  /** Its place in the file, for errors. */
  line: number;
}

/** In the order in which they are made. */
export const STACK_KINDS = [
  'environment_variable',
  'data_store',
  'source',
  'workflow',
  'webhook',
  'subscription',
] as const;
export type Kind = (typeof STACK_KINDS)[number];

/** The words of the file. */
const SECTIONS = {
  environment: 'environment_variable',
  data_stores: 'data_store',
  sources: 'source',
  workflows: 'workflow',
  webhooks: 'webhook',
} as const satisfies Record<string, Kind>;

const WEBHOOK_FIELDS = [
  'url',
  'description',
  'format',
  'secret',
  'signature',
  'headers',
  'method',
  'auth',
  'ca_certificate',
  'client_certificate',
  'client_key',
  'retry_schedule_seconds',
  'disable_after_hours',
  'disable_failures_over_hours',
  'timeout_seconds',
  'ordering',
  'ordering_key',
  'rate_per_second',
  'max_in_flight',
  'adaptive_rate',
  'transform',
  'active',
];

const KNOWN: Readonly<Record<Kind, readonly string[]>> = {
  environment_variable: ['description'],
  data_store: ['description', 'id'],
  source: ['component', 'ingest', 'name', 'props', 'active', 'preflight', 'durability'],
  workflow: ['name', 'triggers', 'steps', 'settings', 'active'],
  webhook: [...WEBHOOK_FIELDS, 'name', 'id'],
  subscription: ['from', 'to', 'channel', 'filter'],
};

const REQUIRED: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  workflow: ['steps'],
  webhook: ['url'],
  subscription: ['from', 'to'],
};

export interface StackFile {
  /** As the user calls it. */
  file: string;
  folder: string;
  name: string;
  resources: Described[];
}

/** Reads and checks the form of a file; what its values mean is checked against the account. */
export async function readStackFile(folder: string, shown: string): Promise<StackFile> {
  for (const name of STACK_FILES) {
    const text = await readTextFile(path.join(folder, name)).catch(() => undefined);
    if (text !== undefined) return parseStack(text, path.join(shown, name), folder);
  }
  const hint = `Write one, or export what the account has: hw export ${shown}`;
  throw new CliError('failure', `${shown} has no ${STACK_FILES[0]}`, { hint });
}

export async function parseStack(text: string, file: string, folder: string): Promise<StackFile> {
  // Other commands start without it.
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const errors: ErrorField[] = document.errors.map(({ message, pos }) => {
    const { line, col: column } = lines.linePos(pos[0]);
    return { path: '', message: message.split('\n')[0] ?? '', file, line, column };
  });
  if (errors.length > 0) throw invalidStack(file, errors);
  const lineOf = (keys: readonly (string | number)[]): number => {
    for (let depth = keys.length; depth > 0; depth--) {
      const node = document.getIn(keys.slice(0, depth), true) as { range?: [number, number, number] } | undefined;
      if (node?.range !== undefined) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  const root: unknown = document.toJS() ?? {};
  if (!isFields(root)) throw invalidStack(file, [{ path: '', message: 'must be a mapping', file, line: 1 }]);
  const refuse = (keys: readonly (string | number)[], message: string) =>
    void errors.push({ path: keys.join('.'), message: `${keys.join('.')} ${message}`, file, line: lineOf(keys) });
  const resources = readSections(root, refuse, lineOf);
  if (root['name'] !== undefined && typeof root['name'] !== 'string') refuse(['name'], 'must be text');
  if (errors.length > 0) throw invalidStack(file, errors);
  return { file, folder, name: (root['name'] as string | undefined) ?? DEFAULT_STACK, resources };
}

export function invalidStack(file: string, fields: readonly ErrorField[]): CliError {
  const [first] = fields;
  const place = first?.line === undefined ? file : `${first.file ?? file}:${first.line}`;
  return new CliError('failure', `${place}: ${first?.message ?? 'is not valid'}`, { code: 'INVALID_STACK', fields });
}

type Refuse = (keys: readonly (string | number)[], message: string) => void;
type LineOf = (keys: readonly (string | number)[]) => number;

function readSections(root: Fields, refuse: Refuse, lineOf: LineOf): Described[] {
  const resources: Described[] = [];
  for (const [section, value] of Object.entries(root)) {
    if (section === 'name') continue;
    if (section === 'subscriptions') resources.push(...readSubscriptions(value, refuse, lineOf));
    else if (!Object.hasOwn(SECTIONS, section))
      refuse([section], `is not known; there are ${['name', ...Object.keys(SECTIONS), 'subscriptions'].join(', ')}`);
    else {
      const kind = SECTIONS[section as keyof typeof SECTIONS];
      resources.push(...readSection([section], kind, namesAsFields(value), refuse, lineOf));
    }
  }
  return resources;
}

/** A list of names stands for names without anything else. */
function namesAsFields(value: unknown): unknown {
  const isNames = Array.isArray(value) && value.every((name) => typeof name === 'string');
  return isNames ? Object.fromEntries(value.map((name: string) => [name, null])) : value;
}

function readSection(keys: string[], kind: Kind, value: unknown, refuse: Refuse, lineOf: LineOf): Described[] {
  if (value === null || value === undefined) return [];
  if (!isFields(value)) {
    refuse(keys, 'must be a mapping of names');
    return [];
  }
  return Object.entries(value).flatMap(([key, fields]) =>
    readOne([...keys, key], kind, key, fields ?? {}, refuse, lineOf),
  );
}

function readSubscriptions(value: unknown, refuse: Refuse, lineOf: LineOf): Described[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) {
    refuse(['subscriptions'], 'must be a list');
    return [];
  }
  const seen = new Set<string>();
  return value.flatMap((fields: unknown, i) => {
    const { from, to, channel = '' } = isFields(fields) ? fields : {};
    const key = `${shownText(from)} → ${shownText(to)}${channel === '' ? '' : ` (${shownText(channel)})`}`;
    if (seen.has(key)) refuse(['subscriptions', i], `is there twice: ${key}`);
    seen.add(key);
    return readOne(['subscriptions', i], 'subscription', key, fields, refuse, lineOf);
  });
}

function readOne(
  keys: (string | number)[],
  kind: Kind,
  key: string,
  fields: unknown,
  refuse: Refuse,
  lineOf: LineOf,
): Described[] {
  if (!isFields(fields)) {
    refuse(keys, 'must be a mapping');
    return [];
  }
  for (const name of Object.keys(fields))
    if (!KNOWN[kind].includes(name)) refuse([...keys, name], `is not known; there are ${KNOWN[kind].join(', ')}`);
  for (const name of REQUIRED[kind] ?? []) if (fields[name] === undefined) refuse(keys, `needs ${name}`);
  if (kind === 'source' && (fields['component'] === undefined) === (fields['ingest'] !== true))
    refuse(keys, 'needs either component or ingest: true');
  for (const part of ['triggers', 'steps'])
    if (fields[part] !== undefined && (!Array.isArray(fields[part]) || !fields[part].every(isFields)))
      refuse([...keys, part], 'must be a list of mappings');
  for (const part of ['props', 'settings', 'headers'])
    if (fields[part] !== undefined && !isFields(fields[part])) refuse([...keys, part], 'must be a mapping');
  return [{ kind, key, fields, line: lineOf(keys) }];
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For messages and comparisons. A value that is no text is wrong, and is shown as JSON. */
export function shownText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
