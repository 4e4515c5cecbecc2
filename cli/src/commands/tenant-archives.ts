import { createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { NDJSON_TYPE } from '@headwater/shared';
import { interrupted } from '../api/client.ts';
import { unreachableError } from '../api/unreachable.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { describeBytes } from '../terminal/describe-bytes.ts';

const PASSPHRASE = 'HEADWATER_ARCHIVE_PASSPHRASE';
const PASSPHRASE_HEADER = 'x-headwater-passphrase';
const ABOUT = `Takes the key of the operator (HEADWATER_ADMIN_KEY), no other. The passphrase comes from ${PASSPHRASE}, or is asked for.`;

/** No option has it: the list of processes shows options. */
async function readPassphrase({ environment, ask }: CommandContext): Promise<string> {
  const given = environment.inherited[PASSPHRASE] ?? '';
  if (given === '' && !ask.possible) throw usageError(`Set ${PASSPHRASE} to the passphrase of the archive`);
  const passphrase = given === '' ? await ask.secret('The passphrase of the archive?') : given;
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(passphrase)) return passphrase;
  throw usageError('The passphrase may have letters, digits, signs and inner spaces of ASCII alone');
}

export const exportTenant: CommandSpec = {
  path: 'tenants export',
  summary: 'Write an account into an archive: its configuration, secrets and history',
  details: `${ABOUT} The secrets of the archive are sealed with it, all else is plain. Suspend the account first if it is to move.`,
  arguments: [{ name: 'id', summary: 'The id of the account (`o_…`).' }],
  options: [
    { name: 'output', short: 'o', value: 'file', summary: 'The file. Default: `<id>.ndjson`.', completes: 'files' },
    {
      name: 'without-history',
      summary:
        'Leave out events, runs, executions, deliveries and all that waits. Configuration, secrets and what components have stored are kept.',
    },
  ],
  examples: [
    { does: 'Into a file', command: 'hw tenants export o_1vZ8kQ0aB3xYpL9mWc2T -o acme.ndjson' },
    { does: 'To begin anew elsewhere', command: 'hw tenants export o_1vZ8kQ0aB3xYpL9mWc2T --without-history' },
  ],
  json: '{ file, bytes }',
  exits: [...NAMING_EXITS, 'interrupted'],
  async run(context) {
    const { api: connect, input, output, signal, workDir } = context;
    const id = input.argument('id');
    const file = path.resolve(workDir, input.text('output') ?? `${id}.ndjson`);
    const api = await connect();
    const headers = { accept: NDJSON_TYPE, [PASSPHRASE_HEADER]: await readPassphrase(context) };
    const draft = `${file}.part`;
    const bytes = await output.progress('Exporting', async () => {
      const query = input.flag('without-history') ? { without_history: true } : {};
      const answer = await api.open(`/accounts/${encodeURIComponent(id)}/export`, query, headers);
      try {
        await pipeline(Readable.from(answer.body ?? []), createWriteStream(draft, { mode: 0o600 }), { signal });
        await rename(draft, file);
        return (await stat(file)).size;
      } catch (cause) {
        await rm(draft, { force: true });
        if (signal.aborted) throw interrupted();
        if ((cause as NodeJS.ErrnoException).path !== undefined)
          throw new CliError('failure', `${file} cannot be written: ${(cause as Error).message}`);
        // The server ends the connection before its time where it cannot go on.
        throw unreachableError(api.url, cause);
      }
    });
    return { json: { file, bytes }, text: `${file}: ${describeBytes(bytes)}.`, quiet: file };
  },
};

interface Imported {
  id: string;
  name: string;
  state: string;
}

export const importTenant: CommandSpec = {
  path: 'tenants import',
  summary: 'Make an account from an archive of `hw tenants export`',
  details: `${ABOUT} All of it is there then, or nothing. Ids, keys and endpoints are what they were. The account is suspended: see \`hw tenants resume\`.`,
  arguments: [{ name: 'file', summary: 'The archive.', completes: 'files' }],
  examples: [{ does: 'On another server', command: 'hw tenants import acme.ndjson --url https://hw.example.com' }],
  json: 'the account, as `GET /v1/tenants/{id}` answers it',
  exits: [...SERVER_EXITS, 'interrupted'],
  async run(context) {
    const { api: connect, input, output, workDir } = context;
    const file = path.resolve(workDir, input.argument('file'));
    const handle = await open(file).catch((cause: Error) => {
      throw usageError(`${file} cannot be read: ${cause.message}`);
    });
    await handle.close();
    const api = await connect();
    const headers = { 'content-type': NDJSON_TYPE, [PASSPHRASE_HEADER]: await readPassphrase(context) };
    const made = await output.progress('Importing', () => api.upload<Imported>('/accounts/import', file, headers));
    const text = `${made.name} (${made.id}) is ${made.state}: hw tenants resume ${made.id} lets it go on.`;
    return { json: made, text, quiet: made.id };
  },
};
