import { nearest } from '@headwater/shared';
import type { Subscription } from '@headwater/shared/contract';
import type { ApiClient } from '../api/client.ts';
import type { Component, ConnectedAccount, EnvironmentVariable, Source, Webhook, Workflow } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import type { Answer } from '../answer.ts';
import { type CommandSpec, type OptionSpec, SERVER_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findMember } from './members.ts';
import { ofSeconds } from '../terminal/describe-time.ts';
import type { Column } from '../terminal/table.ts';

type ListQuery = { q?: string; owner?: string };

interface Listing<T> {
  read(api: ApiClient, query: ListQuery): Promise<T[]>;
  columns: readonly Column<T>[];
  /** It takes `--named`. Default false. */
  named?: boolean;
  /** It takes `--owner`. Default false. */
  owned?: boolean;
  /** How to make the first one. */
  first: string;
}

const id = { title: 'ID', whole: true, value: (row: { id: string }) => row.id };
const created = { title: 'CREATED', value: (row: { created_at?: number }) => ofSeconds(row.created_at) };
const state = { title: 'STATE', value: (row: { active: boolean }) => (row.active ? 'active' : 'stopped') };

interface List {
  (context: CommandContext): Promise<Answer>;
  takesNamed: boolean;
  takesOwner: boolean;
}

/** Keeps the type of its rows from its parts to its use. */
function listing<T>(parts: Listing<T>): List {
  const takesNamed = parts.named === true;
  const takesOwner = parts.owned === true;
  const list = async ({ api: connect, input, output }: CommandContext): Promise<Answer> => {
    const named = takesNamed ? input.text('named') : undefined;
    const owner = takesOwner ? input.text('owner') : undefined;
    const api = await connect();
    const rows = await parts.read(api, {
      ...(named === undefined ? {} : { q: named }),
      ...(owner === undefined ? {} : { owner: await ownerId(api, owner) }),
    });
    if (rows.length === 0) output.note(noteOfNone(parts.first, named, owner));
    return { json: rows, text: rows.length === 0 ? '' : output.table(rows, parts.columns) };
  };
  return Object.assign(list, { takesNamed, takesOwner });
}

/** The server knows owners by id, and `me`; people know them by their address. */
async function ownerId(api: ApiClient, word: string): Promise<string> {
  return word.includes('@') ? (await findMember(api, word)).id : word;
}

function noteOfNone(first: string, named: string | undefined, owner: string | undefined): string {
  if (named !== undefined) return `None${owner === undefined ? '' : ` of ${owner}`} has ${named} in its name or id.`;
  return owner === undefined ? `None yet. Make one with: ${first}` : `None was made by ${owner}.`;
}

const listSources = listing<Source>({
  read: (api, query) => api.all('/users/me/sources', query),
  named: true,
  owned: true,
  columns: [
    { title: 'NAME', value: (row) => row.name_slug },
    id,
    state,
    { title: 'LAST EVENT', value: (row) => ofSeconds(row.last_event_at) },
    { title: 'LAST ERROR', value: (row) => ofSeconds(row.last_error?.at) },
    created,
  ],
  first: 'hw deploy <file>',
});

export const listWorkflows = listing<Workflow>({
  read: (api, query) => api.all('/users/me/workflows', query),
  named: true,
  columns: [
    { title: 'NAME', value: (row) => row.name_slug ?? row.name },
    id,
    state,
    { title: 'VERSION', value: (row) => `${row.version ?? ''}` },
    created,
  ],
  first: 'hw workflows create <file.json>',
});

const componentColumns: readonly Column<Component>[] = [
  { title: 'KEY', value: (row) => row.key ?? '' },
  { title: 'VERSION', value: (row) => row.version },
  { title: 'TYPE', value: (row) => row.type },
  { title: 'NAME', value: (row) => row.name },
  id,
];

const listComponents = listing<Component>({
  read: (api) => api.all('/components'),
  columns: [
    ...componentColumns,
    { title: 'STATE', value: (row) => (row.published_at === null ? 'draft' : 'published') },
  ],
  first: 'hw publish <file>',
});

const listRegistry = listing<Component>({
  read: (api) => api.all('/components/registry'),
  columns: componentColumns,
  first: 'hw publish <file> --registry',
});

export const listWebhooks = listing<Webhook>({
  read: (api, query) => api.all('/users/me/webhooks', query),
  named: true,
  columns: [
    { title: 'NAME', value: (row) => row.name ?? '' },
    id,
    { title: 'URL', value: (row) => row.url },
    state,
    created,
  ],
  first: 'hw webhooks create <url>',
});

export const listSubscriptions = listing<Subscription>({
  read: (api) => api.all('/users/me/subscriptions'),
  columns: [
    id,
    { title: 'EMITTER', whole: true, value: (row) => row.emitter_id },
    { title: 'LISTENER', whole: true, value: (row) => row.listener_id },
    { title: 'CHANNEL', value: (row) => row.event_name },
    { title: 'FILTER', value: (row) => (row.filter === null ? '' : JSON.stringify(row.filter)) },
    created,
  ],
  first: 'hw subscriptions create <emitter> <listener>',
});

const listEmitters = listing<{ id: string; name: string }>({
  read: (api) => api.all('/subscriptions/emitters'),
  columns: [{ title: 'NAME', value: (row) => row.name }, id],
  first: 'hw deploy <file>',
});

const listAccounts = listing<ConnectedAccount>({
  read: (api) => api.all('/connected_accounts'),
  columns: [
    { title: 'APP', value: (row) => row.app.name_slug },
    { title: 'NAME', value: (row) => row.name ?? '' },
    id,
    { title: 'STATE', value: (row) => (row.dead ? 'dead' : row.healthy ? 'healthy' : 'unknown') },
    created,
  ],
  first: 'POST /v1/connected_accounts',
});

export const listEnvironment = listing<EnvironmentVariable>({
  read: (api) => api.all('/environment_variables'),
  columns: [
    { title: 'NAME', value: (row) => row.name },
    { title: 'DESCRIPTION', value: (row) => row.description ?? '' },
    { title: 'UPDATED', value: (row) => ofSeconds(row.updated_at) },
  ],
  first: 'hw env set NAME',
});

export const NAMED: OptionSpec = {
  name: 'named',
  value: 'text',
  summary: 'Only those that have this text in their name or id, in any case; webhooks also in their URL.',
};

const OWNER: OptionSpec = {
  name: 'owner',
  value: 'member',
  summary: 'Only the sources that this member has made: an e-mail address or id, or `me`.',
};

/** By the words that people use; the first one is ours. */
const LISTS: readonly { names: readonly string[]; list: List }[] = [
  { names: ['sources', 'source', 's', 'dc'], list: listSources },
  { names: ['workflows', 'workflow', 'wf', 'p'], list: listWorkflows },
  { names: ['components', 'component', 'c', 'sc'], list: listComponents },
  { names: ['registry', 'r'], list: listRegistry },
  { names: ['webhooks', 'webhook', 'wh'], list: listWebhooks },
  { names: ['subscriptions', 'subscription', 'subs', 'sub'], list: listSubscriptions },
  { names: ['emitters', 'emitter'], list: listEmitters },
  { names: ['accounts', 'account', 'a', 'apn'], list: listAccounts },
  { names: ['env', 'environment', 'variables'], list: listEnvironment },
];

const WORDS = LISTS.flatMap(({ names }) => names.slice(0, 1));

export const list: CommandSpec = {
  path: 'list',
  aliases: ['ls'],
  summary: 'List what there is',
  details: `${WORDS.join(', ')}. Shorter: ${LISTS.map(({ names }) => names.slice(1).join(', ')).join('; ')}. Away from a terminal a row is a line with tabs between its cells, without titles.`,
  arguments: [{ name: 'what', summary: 'Default: sources.', optional: true, completes: { words: WORDS } }],
  options: [NAMED, OWNER],
  examples: [
    { does: 'The deployed sources', command: 'hw list' },
    { does: 'Webhooks by a part of their name or URL', command: 'hw list webhooks --named billing' },
    { does: 'The sources that you have made', command: 'hw list sources --owner me' },
    { does: 'The ids of all webhooks', command: 'hw list webhooks | cut -f2' },
  ],
  json: 'an array of the resources, as the REST API lists them',
  exits: SERVER_EXITS,
  async run(context) {
    const what = context.input.optionalArgument('what') ?? 'sources';
    const found = LISTS.find(({ names }) => names.includes(what.toLowerCase()));
    if (found !== undefined) {
      if (context.input.text('named') !== undefined && !found.list.takesNamed)
        throw usageError(`--named goes with sources, workflows and webhooks, not with ${found.names[0]}`);
      if (context.input.text('owner') !== undefined && !found.list.takesOwner)
        throw usageError(`--owner goes with sources, not with ${found.names[0]}`);
      return found.list(context);
    }
    const similar = nearest(what, WORDS);
    throw usageError(
      `There is no list of ${what}`,
      similar.length > 0 ? `Did you mean ${similar.join(', ')}?` : `There are: ${WORDS.join(', ')}`,
    );
  },
};
