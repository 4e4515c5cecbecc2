import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, interrupted } from '../api/client.ts';
import type { ImportProgress } from '../api/resources.ts';
import { CliError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS, NAMING_EXITS } from '../command.ts';
import { confirmDeletion, YES } from './delete.ts';
import { safeText } from '../terminal/safe-text.ts';
import { splitKey } from './which-component.ts';
import { neededFiles } from '../registry/needed-files.ts';
import { type FileTree, readFolder, splitTree } from '../registry/read-tree.ts';

/** A request has at most 6 MB; the rest is for its frame. */
const MAX_PART_BYTES = 5_500_000;
const POLL_MS = 300;

const importFolder: CommandSpec = {
  path: 'registry import',
  summary: 'Save and publish all components of a folder of apps',
  details:
    'Every file in a folder `sources` or `actions` that exports a component, with the files it imports. A large folder is sent app by app. It can be repeated: what is there with the same code stays as it is.',
  arguments: [{ name: 'folder', summary: 'E.g. a checkout of a collection of components.', completes: 'files' }],
  options: [
    {
      name: 'scope',
      value: 'scope',
      summary: '`draft`: saved alone; `account` (default): published in your account; `registry`: for all accounts.',
      choices: ['draft', 'account', 'registry'],
    },
  ],
  examples: [
    { does: 'For your account', command: 'hw registry import components/acme' },
    { does: 'For all accounts of the server', command: 'hw registry import components --scope registry' },
  ],
  json: '{ total, succeeded, failed, components: [{ path, status, component_id, key, version, error, errors }] }',
  exits: COMPONENT_EXITS,
  async run({ api: connect, input, output, workDir, signal }) {
    const word = input.argument('folder');
    const tree = neededFiles(await readFolder(path.resolve(workDir, word), word));
    if (Object.keys(tree).length === 0) throw new CliError('failure', `${word} holds no files of components`);
    const api = await connect();
    const scope = input.text('scope') ?? 'account';
    const parts = splitTree(tree, MAX_PART_BYTES);
    const done = await output.progress(`Importing ${word}`, async (progress) => {
      const ended: ImportProgress[] = [];
      for (const [at, part] of parts.entries()) {
        const of = parts.length === 1 ? '' : `, part ${at + 1} of ${parts.length}`;
        const say = ({ succeeded, failed, total }: ImportProgress) =>
          progress.say(`Importing ${word}: ${succeeded + failed} of ${total}${of}`);
        ended.push(await importPart(api, part, scope, say, signal));
      }
      return ended;
    });
    return answerOf(done);
  },
};

async function importPart(
  api: ApiClient,
  files: FileTree,
  scope: string,
  say: (progress: ImportProgress) => void,
  signal: AbortSignal,
): Promise<ImportProgress> {
  let progress = await api.send<ImportProgress>('POST', '/registry/import', { scope, files });
  while (progress.status === 'running') {
    say(progress);
    await sleep(POLL_MS, undefined, { signal }).catch(() => {
      throw interrupted();
    });
    progress = await api.get<ImportProgress>(`/registry/imports/${progress.id}`);
  }
  return progress;
}

function answerOf(done: readonly ImportProgress[]) {
  const sum = (pick: (one: ImportProgress) => number) => done.reduce((total, one) => total + pick(one), 0);
  const components = done.flatMap((one) => one.components);
  const json = {
    total: sum((one) => one.total),
    succeeded: sum((one) => one.succeeded),
    failed: sum((one) => one.failed),
    components,
  };
  const lines = components.map(({ path: file, status, key, version, error }) =>
    safeText(status === 'ok' ? `ok      ${file}  ${key ?? ''}@${version ?? ''}` : `failed  ${file}  ${error ?? ''}`),
  );
  const text = [...lines, `${json.succeeded} of ${json.total} components were imported.`].join('\n');
  return { json, text, quiet: '', ...(json.failed > 0 ? { exit: 'component' as const } : {}) };
}

const ADMIN_KEY = 'Takes the key of the operator (HEADWATER_ADMIN_KEY), no other.';

const add: CommandSpec = {
  path: 'registry add',
  summary: 'Publish a component of any account in the registry',
  details: `${ADMIN_KEY} With the key of the account itself: hw publish --registry.`,
  arguments: [{ name: 'component', summary: 'The id of the component (`sc_…`).' }],
  examples: [{ does: 'By id', command: 'hw registry add sc_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: 'the component in the registry',
  exits: NAMING_EXITS,
  async run({ api, input }) {
    const body = { component_id: input.argument('component') };
    const made = await (await api()).send<{ key: string; version: string }>('POST', '/registry/components', body);
    return { json: made, text: `${made.key}@${made.version} is in the registry.`, quiet: made.key };
  },
};

const withdraw: CommandSpec = {
  path: 'registry withdraw',
  summary: 'Take a version out of the registry; what uses it goes on',
  details: ADMIN_KEY,
  arguments: [{ name: 'component', summary: '`key`, or `key@version`. Default: the newest version.' }],
  options: [YES],
  examples: [{ does: 'One version', command: 'hw registry withdraw acme-orders@0.1.0 -y' }],
  json: '{ key, withdrawn }',
  exits: NAMING_EXITS,
  async run(context) {
    const word = context.input.argument('component');
    const { key, version } = splitKey(word);
    const api = await context.api();
    await confirmDeletion(context, `Take ${word} out of the registry?`);
    const at = `/registry/components/${encodeURIComponent(key)}`;
    await api.send('DELETE', at, version === undefined ? {} : { version });
    return { json: { key: word, withdrawn: true }, text: `${word} is withdrawn.`, quiet: '' };
  },
};

export const registryCommands: readonly CommandSpec[] = [importFolder, add, withdraw];
