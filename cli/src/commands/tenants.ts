import { KEY_SCOPES } from '@headwater/shared';
import type { ApiKey } from '../api/resources.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import { usageError } from '../cli-error.ts';
import { IF_MATCH, ifMatchHeader } from './if-match.ts';
import { confirmDeletion, YES } from './delete.ts';
import { exportTenant, importTenant } from './tenant-archives.ts';
import { describeBytes } from '../terminal/describe-bytes.ts';
import { ofSeconds } from '../terminal/describe-time.ts';

const ADMIN_KEY = 'Takes the key of the operator (HEADWATER_ADMIN_KEY), no other.';
const ID = { name: 'id', summary: 'The id of the account (`o_…`).' };
const ACCOUNT_JSON = 'the account, as `GET /v1/tenants/{id}` answers it';

interface Tenant {
  id: string;
  name: string;
  email: string | null;
  state: string;
  sources: number;
  workflows: number;
  webhooks: number;
  history_bytes: number;
  used_this_month: { requests: number; runs: number; cpu_ms: number };
  created_at: number;
}

const pathOf = (id: string) => `/tenants/${encodeURIComponent(id)}`;

/** Takes `<server>/e/<key>/…`, `http://<key>.<domain>`, or a key itself. */
function endpointKeyOf(word: string): string {
  const { pathname, hostname } = URL.parse(word) ?? { pathname: '', hostname: word };
  return /^\/e\/([^/]+)/.exec(pathname)?.[1] ?? hostname.split('.')[0] ?? word;
}

const list: CommandSpec = {
  path: 'tenants list',
  aliases: ['ls'],
  summary: 'All accounts of the server, with what each has',
  details: `${ADMIN_KEY} An option names something of an account: the list has that account, or none.`,
  options: [
    { name: 'endpoint', value: 'url', summary: 'Only the account of this endpoint: its URL, or the key in it.' },
    { name: 'execution', value: 'id', summary: 'Only the account of this execution (`exec_…`).' },
    { name: 'api-key-sha256', value: 'hash', summary: 'Only the account of the API key with this SHA-256, in hex.' },
  ],
  examples: [
    { does: 'All of them', command: 'HEADWATER_API_KEY=$HEADWATER_ADMIN_KEY hw tenants list' },
    { does: 'Whose endpoint this is', command: 'hw tenants list --endpoint https://hooks.example.com/e/4k2m9xq7' },
  ],
  json: 'an array of accounts, as `GET /v1/tenants` lists them',
  exits: SERVER_EXITS,
  async run({ api, input, output }) {
    const endpoint = input.text('endpoint');
    const owned = {
      endpoint_key: endpoint === undefined ? undefined : endpointKeyOf(endpoint),
      execution_id: input.text('execution'),
      api_key_sha256: input.text('api-key-sha256'),
    };
    const rows = await (await api()).all<Tenant>('/tenants', owned);
    const text = output.table(rows, [
      { title: 'NAME', value: (row) => row.name },
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'STATE', value: (row) => row.state },
      { title: 'SOURCES', value: (row) => `${row.sources}` },
      { title: 'WORKFLOWS', value: (row) => `${row.workflows}` },
      { title: 'WEBHOOKS', value: (row) => `${row.webhooks}` },
      { title: 'HISTORY', value: (row) => describeBytes(row.history_bytes) },
      { title: 'RUNS (MONTH)', value: (row) => `${row.used_this_month.runs}` },
      { title: 'CPU (MONTH)', value: (row) => `${(row.used_this_month.cpu_ms / 1000).toFixed(1)} s` },
      { title: 'CREATED', value: (row) => ofSeconds(row.created_at) },
    ]);
    return { json: rows, text };
  },
};

const show: CommandSpec = {
  path: 'tenants show',
  summary: 'An account, with what it has',
  details: ADMIN_KEY,
  arguments: [ID],
  examples: [{ does: 'By id', command: 'hw tenants show o_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: ACCOUNT_JSON,
  exits: NAMING_EXITS,
  async run({ api, input, output }) {
    const account = await (await api()).get<Tenant>(pathOf(input.argument('id')));
    const text = output.fields([
      ['id', account.id],
      ['name', account.name],
      ['e-mail', account.email],
      ['state', account.state],
      ['has', `${account.sources} sources, ${account.workflows} workflows, ${account.webhooks} webhooks`],
      ['history', describeBytes(account.history_bytes)],
      ['created', ofSeconds(account.created_at)],
    ]);
    return { json: account, text };
  },
};

const create: CommandSpec = {
  path: 'tenants create',
  summary: 'Make an account with its first user and key',
  details: `${ADMIN_KEY} The key is shown this once.`,
  arguments: [{ name: 'name', summary: 'What it is called.' }],
  options: [{ name: 'email', value: 'address', summary: 'Where `$.send.email` sends to.' }],
  examples: [{ does: 'For a customer', command: 'hw tenants create Acme --email ops@acme.example' }],
  json: '{ id, name, user_id, api_key }',
  exits: SERVER_EXITS,
  async run({ api, input }) {
    const email = input.text('email');
    const body = { name: input.argument('name'), ...(email === undefined ? {} : { email }) };
    const made = await (await api()).send<Tenant & { api_key: string }>('POST', '/tenants', body);
    const text = `Account ${made.name} (${made.id}). Its key is not shown again:\n${made.api_key}`;
    return { json: made, text, quiet: made.api_key };
  },
};

const update: CommandSpec = {
  path: 'tenants update',
  summary: 'Rename an account, or set its e-mail address',
  details: ADMIN_KEY,
  arguments: [ID],
  options: [
    { name: 'name', value: 'name', summary: 'What it is called from now on.' },
    { name: 'email', value: 'address', summary: 'Where `$.send.email` sends to; empty removes it.' },
  ],
  examples: [{ does: 'Another name', command: "hw tenants update o_1vZ8kQ0aB3xYpL9mWc2T --name 'Acme Inc.'" }],
  json: ACCOUNT_JSON,
  exits: NAMING_EXITS,
  async run({ api, input }) {
    const [name, email] = [input.text('name'), input.text('email')];
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(email === undefined ? {} : { email: email === '' ? null : email }),
    };
    const account = await (await api()).send<Tenant>('PUT', pathOf(input.argument('id')), body);
    return { json: account, text: `${account.id} is ${account.name}.`, quiet: account.id };
  },
};

function suspension(action: 'suspend' | 'resume', summary: string, details: string): CommandSpec {
  return {
    path: `tenants ${action}`,
    summary,
    details: `${ADMIN_KEY} ${details}`,
    arguments: [ID],
    examples: [{ does: summary, command: `hw tenants ${action} o_1vZ8kQ0aB3xYpL9mWc2T` }],
    json: ACCOUNT_JSON,
    exits: NAMING_EXITS,
    async run({ api, input }) {
      const account = await (await api()).send<Tenant>('POST', `${pathOf(input.argument('id'))}/${action}`);
      return { json: account, text: `${account.name} (${account.id}) is ${account.state}.`, quiet: account.id };
    },
  };
}

const suspend = suspension(
  'suspend',
  'Suspend an account: its intake is refused, and its runs and deliveries wait',
  'Its endpoints answer 503, its keys change nothing, its timers do not fire. Nothing is lost.',
);
const resume = suspension('resume', 'Resume a suspended account', 'What has waited goes on.');

const key: CommandSpec = {
  path: 'tenants key',
  summary: 'Make another key of an account, such as for a tenant that has lost its own',
  details: `${ADMIN_KEY} The key is shown this once.`,
  arguments: [ID, { name: 'name', summary: 'What it is for.' }],
  options: [
    {
      name: 'scope',
      value: 'scope',
      choices: KEY_SCOPES,
      repeatable: true,
      summary: 'What it may do; several times for several. Default: full.',
    },
  ],
  examples: [{ does: 'One that may do everything', command: 'hw tenants key o_1vZ8kQ0aB3xYpL9mWc2T recovery' }],
  json: 'the key, as `POST /v1/tenants/{id}/api_keys` answers it',
  exits: NAMING_EXITS,
  async run({ api, input }) {
    const scopes = input.list('scope');
    const body = { name: input.argument('name'), ...(scopes.length === 0 ? {} : { scopes }) };
    const path = `${pathOf(input.argument('id'))}/api_keys`;
    const made = await (await api()).send<ApiKey & { api_key: string }>('POST', path, body);
    return {
      json: made,
      text: `Key ${made.name} (${made.id}). It is not shown again:\n${made.api_key}`,
      quiet: made.api_key,
    };
  },
};

interface Limits {
  account_id: string;
  limits: Record<string, number>;
  defaults: Record<string, number>;
  set: Record<string, number>;
}

const limits: CommandSpec = {
  path: 'tenants limits',
  summary: 'The limits of an account; with NAME=value, sets them',
  details: `${ADMIN_KEY} What is not named stays; \`NAME=default\` takes back what was set.`,
  arguments: [ID, { name: 'limit', summary: '`NAME=value`.', optional: true, variadic: true }],
  options: [{ ...IF_MATCH, summary: 'Only where nobody has set a limit of it since: the `etag` of `--json`.' }],
  examples: [
    { does: 'All of them', command: 'hw tenants limits o_1vZ8kQ0aB3xYpL9mWc2T' },
    { does: 'Two are set', command: 'hw tenants limits o_1vZ8kQ0aB3xYpL9mWc2T maxSources=50 maxWebhooks=default' },
  ],
  json: 'the limits, as `GET /v1/accounts/{id}/limits` answers them, with their `etag`',
  exits: NAMING_EXITS,
  async run(context) {
    const { api: connect, input, output } = context;
    const change = Object.fromEntries(input.words('limit').map(readLimit));
    const onlyIf = ifMatchHeader(context);
    const path = `/accounts/${encodeURIComponent(input.argument('id'))}/limits`;
    const api = await connect();
    if (Object.keys(change).length > 0) await api.send('PUT', path, change, onlyIf);
    const found = await api.tagged<Limits>(path);
    const rows = Object.entries(found.limits);
    const text = output.table(rows, [
      { title: 'LIMIT', whole: true, value: ([name]) => name },
      { title: 'VALUE', value: ([, value]) => `${value}` },
      { title: 'DEFAULT', value: ([name]) => `${found.defaults[name]}` },
      { title: 'SET', value: ([name]) => (Object.hasOwn(found.set, name) ? 'yes' : '') },
    ]);
    return { json: found, text };
  },
};

function readLimit(word: string): [string, number | null] {
  const [, name = '', value = ''] = /^(\w+)=(\d{1,15}|default)$/.exec(word) ?? [];
  if (name === '') throw usageError(`${word} sets no limit`, 'Write it as maxSources=50 or maxSources=default');
  return [name, value === 'default' ? null : Number(value)];
}

const remove: CommandSpec = {
  path: 'tenants delete',
  aliases: ['rm'],
  summary: 'Delete an account with everything that it has',
  details: `${ADMIN_KEY} A job of the server deletes it, and goes on after a crash; the same command says how far it is.`,
  arguments: [ID],
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw tenants delete o_1vZ8kQ0aB3xYpL9mWc2T -y' }],
  json: '{ id, name, state, deleted_rows, requested_at, ended_at }',
  exits: NAMING_EXITS,
  async run(context) {
    const id = context.input.argument('id');
    const api = await context.api();
    await confirmDeletion(context, `Delete the account ${id} with all its sources, events and keys?`);
    const deletion = await api.send<{ name: string; state: string; deleted_rows: number }>('DELETE', pathOf(id));
    const { name, state, deleted_rows: rows } = deletion;
    return { json: deletion, text: `${name} (${id}): ${state}, ${rows} rows deleted so far.`, quiet: id };
  },
};

export const tenantCommands: readonly CommandSpec[] = [
  list,
  show,
  create,
  update,
  limits,
  suspend,
  resume,
  key,
  exportTenant,
  importTenant,
  remove,
];
