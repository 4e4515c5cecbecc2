import path from 'node:path';
import { CliError } from '../cli-error.ts';
import type { Answer } from '../answer.ts';
import { type CommandSpec, type OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findServerMain, type ServerMain } from '../server/find-main.ts';
import { becomeMain, readMain } from '../server/run-main.ts';
import { safeText } from '../terminal/safe-text.ts';

const DATA_DIR: OptionSpec = {
  name: 'data-dir',
  value: 'folder',
  summary: 'Folder of the embedded database and the encryption key: HEADWATER_DATA_DIR.',
  completes: 'files',
};

const AS_NODE =
  'Beside an embedded database: as the user of the node and, of a container, in that one. Root is refused where it would take the data from that user.';

const LISTEN: readonly OptionSpec[] = [
  { name: 'port', value: 'port', summary: 'Port of the REST API and the endpoints: PORT.' },
  { name: 'host', value: 'address', summary: 'Address to listen on: HOST.' },
  DATA_DIR,
  {
    name: 'workers',
    value: 'count',
    summary: 'Processes that serve the port, or auto for one a processor: HEADWATER_WORKERS.',
  },
];

const CONFIGURED =
  'Configured by environment variables (docs/configuration.md); the options stand for some of them. The embedded Postgres is used unless DATABASE_URL names another.';

const VARIABLES: Readonly<Record<string, string>> = {
  port: 'PORT',
  host: 'HOST',
  'data-dir': 'HEADWATER_DATA_DIR',
  workers: 'HEADWATER_WORKERS',
};

function environmentOf({ input, environment }: CommandContext, options: readonly OptionSpec[]): NodeJS.ProcessEnv {
  const entries = options.flatMap(({ name }) => {
    const value = input.text(name);
    const variable = VARIABLES[name];
    return value === undefined || variable === undefined ? [] : [[variable, value] as const];
  });
  return { ...environment.inherited, ...Object.fromEntries(entries) };
}

interface RoleCommand {
  word: string;
  role: 'all' | 'api' | 'engine';
  summary: string;
  does: string;
}

function starts({ word, role, summary, does }: RoleCommand): CommandSpec {
  return {
    path: `server ${word}`,
    summary,
    details: CONFIGURED,
    options: LISTEN,
    examples: [{ does, command: `hw server ${word}` }],
    json: 'nothing: the log of the server is JSON, a line each',
    async run(context) {
      const main = findServerMain('main');
      // Without an argument HEADWATER_ROLE decides, whose default is all of it.
      const args = role === 'all' ? [] : [role];
      // The process that this one becomes would not hear of a signal that has come already.
      if (context.signal.aborted) throw new CliError('interrupted', 'Interrupted');
      endWith(await becomeMain(main, args, environmentOf(context, LISTEN)));
      return undefined;
    },
  };
}

function endWith(code: number): void {
  if (code !== 0) throw new CliError('failure', `The server ended with code ${code}`);
}

const migrate: CommandSpec = {
  path: 'server migrate',
  summary: 'Bring the database to the version of this server, and end',
  details: `A node does the same when it starts. This is for running it once before several nodes start. ${AS_NODE}`,
  options: [DATA_DIR, { name: 'plan', summary: 'Only say what would be applied.' }],
  examples: [
    { does: 'A server of your own', command: 'DATABASE_URL=postgres://… hw server migrate' },
    { does: 'Before an upgrade', command: 'hw server migrate --plan' },
  ],
  json: '{ from, to, applied: [names] }, with --plan { from, to, pending: [names] }',
  async run(context) {
    if (context.input.flag('plan')) return planMigration(context);
    const { stdout } = await runToEnd(context, 'migrate-main');
    const answer = JSON.parse(stdout) as { to: number; applied: string[] };
    const did = answer.applied.length === 0 ? 'Nothing to do' : `Applied ${answer.applied.join(', ')}`;
    return { json: answer, text: `${did}: the database is at version ${answer.to}.`, quiet: '' };
  },
};

async function planMigration(context: CommandContext): Promise<Answer> {
  const { stdout } = await runToEnd(context, 'migrate-main', ['--plan']);
  const answer = JSON.parse(stdout) as { from: number; to: number; pending: string[] };
  const { from, to, pending } = answer;
  const text =
    pending.length === 0
      ? `Nothing to apply: the database is at version ${to}.`
      : `From version ${from} to ${to}, in this order:\n${pending.join('\n')}`;
  return { json: answer, text: safeText(text), quiet: pending.join('\n') };
}

async function runToEnd(context: CommandContext, name: ServerMain, args: readonly string[] = []) {
  const env = environmentOf(context, [DATA_DIR]);
  const outcome = await readMain(findServerMain(name), env, context.signal, args);
  if (outcome.stdout.startsWith('{')) return outcome;
  // The main file already wrote the problem to stderr.
  throw new CliError('failure', `The command ended with code ${outcome.code}`);
}

interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  costs?: string;
}

const doctor: CommandSpec = {
  path: 'server doctor',
  summary: 'Check this machine: database, sandbox layers, egress, clock, disk, port, versions',
  details: `Changes nothing that a start would not. Each check is ok, a warning (it works, with less) or a failure (it does not); what is missing says what that costs. Ends with 1 where something fails. ${AS_NODE}`,
  options: [DATA_DIR],
  examples: [
    { does: 'With the configuration of the node', command: 'hw server doctor' },
    { does: 'Only what is not well', command: `hw server doctor --json | jq '.checks[] | select(.status != "ok")'` },
  ],
  json: '{ ok, checks: [{ name, status: "ok" | "warn" | "fail", detail, costs? }] }',
  async run(context): Promise<Answer> {
    const { stdout } = await context.output.progress('Checking this machine', () => runToEnd(context, 'doctor-main'));
    const report = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
    const { style } = context.output;
    const marks = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') };
    const longest = Math.max(...report.checks.map(({ name }) => name.length));
    const lines = report.checks.map(({ name, status, detail, costs }) => {
      const cost = costs === undefined ? '' : `\n${' '.repeat(longest + 8)}${style.dim(safeText(costs))}`;
      return `${marks[status]}  ${name.padEnd(longest + 2)}${safeText(detail)}${cost}`;
    });
    return { json: report, text: lines.join('\n'), ...(report.ok ? {} : { exit: 'failure' as const }) };
  },
};

interface MadeBackup {
  bytes: number;
  encryptionKeys: string[];
  keyFile?: string;
}

const backup: CommandSpec = {
  path: 'server backup',
  summary: 'Write the embedded database to a file, also while its node runs',
  details: `One moment of the whole database: accounts, code, events, and what still waits. Secrets in it are sealed, and the encryption key is not in it: keep that apart. With a DATABASE_URL use the tools of Postgres (docs/operations.md). ${AS_NODE}`,
  arguments: [{ name: 'file', summary: 'Replaced once it is complete; - is stdout.', completes: 'files' }],
  options: [DATA_DIR],
  examples: [
    { does: 'Every night', command: 'hw server backup /backups/headwater.backup' },
    { does: 'To another machine', command: 'hw server backup - | ssh backup "cat > headwater.backup"' },
  ],
  json: '{ bytes, encryptionKeys: [names], keyFile? }; nothing with -',
  async run(context) {
    const file = context.input.argument('file');
    if (file === '-') {
      endWith(await becomeMain(findServerMain('backup-main'), ['-'], environmentOf(context, [DATA_DIR])));
      return undefined;
    }
    const made = await context.output.progress('Reading the database', () =>
      runToEnd(context, 'backup-main', [path.resolve(context.workDir, file)]),
    );
    const answer = JSON.parse(made.stdout) as MadeBackup;
    const key = answer.keyFile ?? 'HEADWATER_ENCRYPTION_KEY';
    const text = `Wrote ${file}, ${answer.bytes} bytes.\nIt is worth nothing without the encryption key (${answer.encryptionKeys.join(', ')}): keep ${key} apart from it.`;
    return { json: answer, text: safeText(text), quiet: file };
  },
};

const restore: CommandSpec = {
  path: 'server restore',
  summary: 'Put a backup in the place of the embedded database',
  details: `The node is stopped meanwhile. The file is checked before anything is changed, and the database of before stays until the new one is complete. The encryption key must be in the data folder, or in HEADWATER_ENCRYPTION_KEY. A newer version of Headwater takes backups of older ones. docs/operations.md says what follows from going back in time. ${AS_NODE}`,
  arguments: [{ name: 'file', summary: 'Written by hw server backup.', completes: 'files' }],
  options: [DATA_DIR, { name: 'replace', summary: 'Also where the database has accounts, which are lost.' }],
  examples: [{ does: 'Into an empty data folder', command: 'hw server restore headwater.backup --data-dir data' }],
  json: '{ madeAt, rows, applied: [names of migrations] }',
  async run(context) {
    const file = context.input.argument('file');
    const args = [path.resolve(context.workDir, file), ...(context.input.flag('replace') ? ['--replace'] : [])];
    const { stdout } = await context.output.progress('Restoring', () => runToEnd(context, 'restore-main', args));
    const answer = JSON.parse(stdout) as { madeAt: string; rows: number; applied: string[] };
    const text = `Restored ${answer.rows} rows of ${answer.madeAt}. Start the node now.`;
    return { json: answer, text: safeText(text), quiet: '' };
  },
};

export const serverCommands: readonly CommandSpec[] = [
  starts({
    word: 'start',
    role: 'all',
    summary: 'Run the whole system on this machine',
    does: 'What `npm start` does',
  }),
  starts({
    word: 'api',
    role: 'api',
    summary: 'Run a node that serves the API and the endpoints',
    does: 'One of several nodes on a database',
  }),
  starts({
    word: 'engine',
    role: 'engine',
    summary: 'Run a node that runs, delivers, ticks and retries',
    does: 'One of several nodes on a database',
  }),
  migrate,
  backup,
  restore,
  doctor,
];
