import type { ApiClient } from '../api/client.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type ArgumentSpec, type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import type { CommandInput } from '../command-input.ts';
import { parseJsonOfFile } from '../props/read-props.ts';
import { localTime, ofSeconds } from '../terminal/describe-time.ts';
import { confirmDeletion, YES } from './delete.ts';
import { IF_MATCH, ifMatchHeader } from './if-match.ts';
import { givenText } from './publish-event.ts';

interface DataStore {
  id: string;
  name: string;
  record_count: number;
  bytes: number;
  created_at: number;
}

interface StoredRecord {
  key: string;
  value: unknown;
  expires_at: number | null;
  updated_at: number;
}

const STORE: ArgumentSpec = { name: 'store', summary: 'The data store, by id or name.' };
const KEY: ArgumentSpec = { name: 'key', summary: 'The key of the record.' };
const RECORD_JSON = 'the record, as `GET /v1/data_stores/{id}/record` answers it, with its `etag`';
const IF_RECORD = {
  ...IF_MATCH,
  summary: 'Only where the record is as it was: the `etag` of `hw data-stores get`. Else nothing is written.',
};
const MAX_TTL_SECONDS = 316_224_000;

async function findStore(api: ApiClient, word: string): Promise<string> {
  if (/^ds_[0-9A-Za-z]{20}$/.test(word)) return word;
  const named = (await api.all<DataStore>('/data_stores')).filter(({ name }) => name === word);
  const [store] = named;
  if (store !== undefined && named.length === 1) return store.id;
  if (store === undefined)
    throw new CliError('notFound', `No data store is called ${word}`, { hint: 'See: hw data-stores list' });
  throw new CliError('failure', `${named.length} data stores are called ${word}`, { hint: 'Name it by its id' });
}

const pathOf = (storeId: string) => `/data_stores/${encodeURIComponent(storeId)}`;
const recordOf = (storeId: string, key: string) => `${pathOf(storeId)}/record?key=${encodeURIComponent(key)}`;

const list: CommandSpec = {
  path: 'data-stores list',
  aliases: ['ls'],
  summary: 'The data stores of the account',
  examples: [{ does: 'All of them', command: 'hw data-stores list' }],
  json: 'an array of data stores',
  exits: SERVER_EXITS,
  async run({ api, output }) {
    const rows = await (await api()).all<DataStore>('/data_stores');
    if (rows.length === 0) output.note('None yet. Make one with: hw data-stores create <name>');
    const text = output.table(rows, [
      { title: 'NAME', value: (row) => row.name },
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'RECORDS', value: (row) => `${row.record_count}` },
      { title: 'BYTES', value: (row) => `${row.bytes}` },
      { title: 'CREATED', value: (row) => ofSeconds(row.created_at) },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const create: CommandSpec = {
  path: 'data-stores create',
  summary: 'Make a data store, which components share',
  arguments: [{ name: 'name', summary: 'What it is called.' }],
  options: [{ name: 'description', value: 'text', summary: 'What it is for.' }],
  examples: [{ does: 'For customers', command: 'hw data-stores create Customers' }],
  json: 'the data store, as `POST /v1/data_stores` answers it',
  exits: SERVER_EXITS,
  async run({ api, input }) {
    const body = { name: input.argument('name'), description: input.text('description') };
    const made = await (await api()).send<DataStore>('POST', '/data_stores', body);
    return { json: made, text: `Data store ${made.name} (${made.id}).`, quiet: made.id };
  },
};

const records: CommandSpec = {
  path: 'data-stores records',
  summary: 'The records of a data store, by key',
  arguments: [STORE],
  options: [
    { name: 'prefix', value: 'text', summary: 'Only keys that begin with it.' },
    { name: 'limit', short: 'n', value: 'count', summary: 'How many at most, 1 to 100. Default: 20.' },
  ],
  examples: [{ does: 'Some of them', command: 'hw data-stores records Customers --prefix customer: -n 100' }],
  json: 'an array of records',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const api = await connect();
    const query = { prefix: input.text('prefix'), limit: input.count('limit', { min: 1, max: 100 }) ?? 20 };
    const rows = await api.page<StoredRecord>(
      `${pathOf(await findStore(api, input.argument('store')))}/records`,
      query,
    );
    const text = output.table(rows, [
      { title: 'KEY', value: (row) => row.key },
      { title: 'VALUE', value: (row) => JSON.stringify(row.value) },
      { title: 'CHANGED', value: (row) => localTime(row.updated_at) },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const get: CommandSpec = {
  path: 'data-stores get',
  summary: 'A record of a data store',
  arguments: [STORE, KEY],
  examples: [
    { does: 'Its value', command: 'hw data-stores get Customers customer:42' },
    { does: 'With its etag', command: 'hw data-stores get Customers customer:42 --json' },
  ],
  json: RECORD_JSON,
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const path = recordOf(await findStore(api, input.argument('store')), input.argument('key'));
    const record = await api.tagged<StoredRecord>(path);
    return { json: record, text: JSON.stringify(record.value, undefined, 2) };
  },
};

const set: CommandSpec = {
  path: 'data-stores set',
  summary: 'Set a record of a data store',
  details: 'It replaces what was there, with its end.',
  arguments: [STORE, KEY, { name: 'value', summary: 'JSON. `@file` reads it from a file, `-` from standard input.' }],
  options: [
    { name: 'ttl', value: 'seconds', summary: 'Seconds after which it is gone. Default: it stays.' },
    IF_RECORD,
    { name: 'if-absent', summary: 'Only where there is none yet. Else nothing is written.' },
  ],
  examples: [
    { does: 'From the command line', command: `hw data-stores set Customers customer:42 '{"name":"Ada"}'` },
    { does: 'From a file, once', command: 'hw data-stores set Customers customer:42 @ada.json --if-absent' },
  ],
  json: 'the record, as `PUT /v1/data_stores/{id}/record` answers it',
  exits: NAMING_EXITS,
  async run(context) {
    const { api: connect, input } = context;
    const value = parseJsonOfFile(await givenText(context, input.argument('value')), 'The value');
    const [key, ttl] = [input.argument('key'), input.count('ttl', { min: 1, max: MAX_TTL_SECONDS })];
    const headers = conditionOf(input);
    const api = await connect();
    const path = `${pathOf(await findStore(api, input.argument('store')))}/record`;
    const record = await api.send<StoredRecord>('PUT', path, { key, value, ttl }, headers);
    return { json: record, text: `${key} is set.`, quiet: '' };
  },
};

function conditionOf(input: CommandInput): Record<string, string> {
  const header = ifMatchHeader({ input });
  if (!input.flag('if-absent')) return header;
  if (header['if-match'] !== undefined) throw usageError('Give --if-match or --if-absent, not both');
  return { 'if-none-match': '*' };
}

const remove: CommandSpec = {
  path: 'data-stores delete',
  aliases: ['rm'],
  summary: 'Delete a record of a data store, or the store with all its records',
  arguments: [STORE, { ...KEY, optional: true, summary: 'Absent: the data store itself.' }],
  options: [YES, IF_RECORD],
  examples: [
    { does: 'One record', command: 'hw data-stores delete Customers customer:42' },
    { does: 'All of it', command: 'hw data-stores delete Customers' },
  ],
  json: '{ id, key, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const { input } = context;
    const api = await context.api();
    const [store, key] = [input.argument('store'), input.optionalArgument('key')];
    const onlyIf = ifMatchHeader(context);
    if (key === undefined && onlyIf['if-match'] !== undefined)
      throw usageError('--if-match is for a record: name its key');
    const id = await findStore(api, store);
    const what = key === undefined ? `the data store ${store} with all its records` : `the record ${key} of ${store}`;
    await confirmDeletion(context, `Delete ${what}?`);
    await api.send('DELETE', key === undefined ? pathOf(id) : `${pathOf(id)}/record`, { key }, onlyIf);
    return { json: { id, key: key ?? null, deleted: true }, text: `Deleted ${what}.`, quiet: '' };
  },
};

const update: CommandSpec = {
  path: 'data-stores update',
  summary: 'Change the name or the description of a data store',
  arguments: [STORE],
  options: [
    { name: 'name', value: 'name', summary: 'What it is called from now on.' },
    { name: 'description', value: 'text', summary: 'What it is for.' },
  ],
  examples: [{ does: 'Another name', command: 'hw data-stores update Stock --name Warehouse' }],
  json: 'the data store',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const [name, description] = [input.text('name'), input.text('description')];
    if (name === undefined && description === undefined) throw usageError('Give --name or --description');
    const api = await connect();
    const body = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) };
    const store = await api.send<DataStore>('PUT', pathOf(await findStore(api, input.argument('store'))), body);
    return { json: store, text: `${store.id} is ${store.name}.`, quiet: store.id };
  },
};

const clear: CommandSpec = {
  path: 'data-stores clear',
  summary: 'Delete all records of a data store',
  arguments: [STORE],
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw data-stores clear Stock -y' }],
  json: '{ id, cleared }',
  exits: NAMING_EXITS,
  async run(context) {
    const api = await context.api();
    const word = context.input.argument('store');
    const id = await findStore(api, word);
    await confirmDeletion(context, `Delete all records of ${word}?`);
    await api.send('DELETE', `${pathOf(id)}/records`);
    return { json: { id, cleared: true }, text: `${word} is empty.`, quiet: '' };
  },
};

export const dataStoreCommands: readonly CommandSpec[] = [list, create, update, records, get, set, clear, remove];
