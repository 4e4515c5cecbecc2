import { nearest } from '../../shared/src/index.ts';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { allCommands, GROUPS } from '../../cli/src/commands/all-commands.ts';
import { completeWords } from '../../cli/src/completion/complete-words.ts';
import { exitsOf } from '../../cli/src/help.ts';
import { createStyle } from '../../cli/src/terminal/style.ts';
import { renderTable } from '../../cli/src/terminal/table.ts';
import { shorten, textWidth } from '../../cli/src/terminal/text-width.ts';
import { readEnvironment } from '../../cli/src/environment.ts';
import { runCli } from '../../cli/src/run-cli.ts';
import { parseCommandLine } from '../../cli/src/program.ts';
import { renderReference } from '../../cli/src/reference/render-reference.ts';
import { bytesOfTree, splitTree } from '../../cli/src/registry/read-tree.ts';
import { type CliResult, type CliUser, createCliUser } from '../support/cli.ts';

// Every command is a process of its own: beside other work each takes a second instead of a tenth.
vi.setConfig({ testTimeout: 90_000 });

const commands = allCommands();
const tree = { commands, groups: GROUPS };
let user: CliUser;

/** The same as the binary does, in this process. `columns`: at a terminal of that width. */
async function ask(argv: readonly string[], env: Record<string, string> = {}, columns?: number): Promise<CliResult> {
  let [stdout, stderr] = ['', ''];
  const code = await runCli({
    argv,
    environment: readEnvironment(
      { HEADWATER_API_KEY: 'hw_none', HEADWATER_URL: 'http://127.0.0.1:9', ...env },
      user.home,
    ),
    stdout: { write: (text) => (stdout += text), ...(columns === undefined ? {} : { isTTY: true, columns }) },
    stderr: { write: (text) => (stderr += text) },
    interactive: false,
    readStdin: async () => '',
    workDir: user.workDir,
    version: '0.0.0',
    signal: new AbortController().signal,
  });
  return { code, stdout, stderr };
}

beforeAll(async () => {
  user = await createCliUser({}, { ownProcess: true });
});
afterAll(() => user?.remove());

test('docs/cli.md is what the definitions say: npm run fix:cli-docs writes it', async () => {
  const page = await readFile(new URL('../../docs/cli.md', import.meta.url), 'utf8');
  expect(page).toBe(renderReference(commands, GROUPS));
});

test('every command has examples that it understands, and names its exit codes', () => {
  for (const command of commands) {
    expect([command.path, command.examples.length > 0]).toEqual([command.path, true]);
    for (const { command: line } of command.examples) {
      const words = wordsOf(line);
      const request = parseCommandLine(words, tree);
      expect([line, request.kind === 'run' && request.command.path]).toEqual([line, command.path]);
    }
    expect(exitsOf(command).slice(0, 3)).toEqual(['ok', 'failure', 'usage']);
  }
});

/** Words that the shell passes to `hw` in an example line. */
function wordsOf(line: string): string[] {
  const [, own = ''] = /(?:^|[ (])hw (.*?)(?:\)"$| [|<>] .*|$)/.exec(line) ?? [];
  return [...own.matchAll(/'([^']*)'|((?:[^\s'"]|"[^"]*")+)/g)].map(
    ([, quoted, plain]) => quoted ?? (plain ?? '').replaceAll('"', ''),
  );
}

test('no command defines an option twice, or one that all commands have', () => {
  const shared = ['url', 'api-key', 'profile', 'json', 'no-color', 'quiet', 'help'];
  for (const { path, options = [] } of commands) {
    const names = [...shared, ...options.map(({ name }) => name)];
    const shorts = ['p', 'q', 'h', ...options.flatMap(({ short }) => short ?? [])];
    expect([path, new Set(names).size, new Set(shorts).size]).toEqual([path, names.length, shorts.length]);
  }
});

test('hw, hw help, --help, help of a group and of a command answer on stdout with code 0', async () => {
  const overview = await ask([]);
  expect(overview).toMatchObject({ code: 0, stderr: '' });
  expect(await user.hw([])).toEqual(overview);
  for (const args of [['help'], ['--help'], ['-h']]) expect(await ask(args)).toEqual(overview);
  for (const [args, text] of [
    [['help', 'deploy'], 'hw deploy <what> [options]'],
    [['deploy', '--help'], 'hw deploy <what> [options]'],
    [['help', 'wf', 'ls'], 'hw workflows list'],
    [['webhooks', 'create', '-h'], '--format <format>'],
    [['webhooks'], 'webhooks delete'],
    [['help', 'rm'], 'hw delete <name>'],
  ] as const) {
    expect(await ask(args)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(text) });
  }
  expect((await user.hw(['--version'])).stdout).toMatch(/^hw \d+\.\d+\.\d+, Node 2\d\./);
});

test.each([
  [['dploy'], "unknown command 'dploy'", 'Did you mean deploy?'],
  [['doctor'], "unknown command 'doctor'", 'Did you mean hw server doctor?'],
  [['webhooks', 'mak'], "unknown command 'mak'", 'See: hw help webhooks'],
  [['deploy'], "missing required argument 'what'", 'See: hw help deploy'],
  [['list', '--jsn'], "unknown option '--jsn'", 'Did you mean --json?'],
  [['events', 'x', '-n', 'many'], '--count many is not a whole number from 0 to 10000', 'hw help events'],
  [['events', 'x', '-n', '10001'], '--count 10001 is not', 'hw help events'],
  [['logs', 'x', '-n', '101'], '--count 101 is not', 'hw help logs'],
  [['whoami', '-p', ''], '--profile has no name', 'leave it out'],
  [['deploy', ''], 'names no component', 'hw help deploy'],
  [['list', 'sorces'], 'There is no list of sorces', 'Did you mean sources?'],
  [['help', 'deplyo'], 'There is no command deplyo', 'Did you mean deploy?'],
  [
    ['webhooks', 'create', 'http://x', '--format', 'xml'],
    'Allowed choices are raw, envelope',
    'hw help webhooks create',
  ],
  [['list', 'sources', 'webhooks'], 'too many arguments', 'hw help list'],
  [['completion', 'powershell'], 'powershell is not a shell', 'bash, zsh, fish'],
])('%j is refused with exit code 2 and what to do', async (args, what, hint) => {
  const { code, stdout, stderr } = await ask(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(what);
  expect(stderr).toContain(hint);
});

test('with --json an error is a document on stderr', async () => {
  const { stdout, stderr } = await ask(['list', 'sorces', '--json']);
  expect(stdout).toBe('');
  expect(JSON.parse(stderr)).toEqual({
    error: { code: 'USAGE', message: 'There is no list of sorces', hint: 'Did you mean sources?', exit_code: 2 },
  });
});

test.skipIf(!existsSync('/dev/full'))('an error that cannot be written is still an exit code', async () => {
  const hw = fileURLToPath(new URL('../../cli/bin/hw.js', import.meta.url));
  const codeOf = async (line: string) => {
    const script = `"$1" "$2" ${line}; echo "code $?"`;
    const { stdout } = await promisify(execFile)('sh', ['-c', script, 'sh', process.execPath, hw], { env: user.env });
    return Number(/code (\d+)/.exec(stdout)?.[1]);
  };
  expect(await codeOf('list nope 2>/dev/full')).toBe(2);
  expect(await codeOf('list nope 2>&-')).toBe(2);
  expect(await codeOf('help >&-')).toBe(0);
});

test.skipIf(!existsSync('/dev/full'))('an answer for which there is no room is a failure that is told', async () => {
  const hw = fileURLToPath(new URL('../../cli/bin/hw.js', import.meta.url));
  const lost = promisify(execFile)('sh', ['-c', '"$1" "$2" help >/dev/full', 'sh', process.execPath, hw]);
  await expect(lost).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be written') });
});

test('colours are there where they are wanted, and nowhere else', async () => {
  const plain = await ask(['help', 'deploy']);
  expect(plain.stdout).not.toContain('\u001B');
  const colored = await ask(['help', 'deploy'], { FORCE_COLOR: '1' });
  expect(colored.stdout).toContain('\u001B[1m');
  const both = await ask(['help', 'deploy'], { FORCE_COLOR: '1', NO_COLOR: '1' });
  expect(both).toEqual(plain);
  expect(await ask(['help', 'deploy', '--no-color'], { FORCE_COLOR: '1' })).toEqual(plain);
});

describe('completion', () => {
  const names = async (kind: string) =>
    kind === 'sources' ? ['orders', 'other'] : kind === 'webhooks' ? ['shop'] : [];
  const complete = async (line: string) =>
    (await completeWords(line.split(' '), { ...tree, names })).map((candidate) => candidate.split('\t')[0]);

  test.each([
    ['del', ['delete']],
    ['webhooks re', ['redeliver', 'retry']],
    ['wh des', ['describe']],
    ['deploy ', [':files']],
    ['deploy x.mjs --pr', ['--preflight', '--prop', '--props', '--profile']],
    ['events o', ['orders', 'other']],
    ['events -n 5 ord', ['orders']],
    ['subscriptions create orders ', ['shop', 'orders', 'other']],
    ['webhooks create http://x --format ', ['raw', 'envelope', 'cloudevents', 'cloudevents-binary']],
    ['run orders --event ', [':files']],
    ['list web', ['webhooks']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['events orders extra', []],
    ['he', ['help']],
    ['help webhooks de', ['describe', 'deliveries', 'delivery', 'delete']],
    ['help deploy ', []],
  ])('%j', async (line, expected) => {
    expect(await complete(line)).toEqual(expected);
  });

  test('the script for bash completes in a real one', async () => {
    const { stdout: script } = await user.hw(['completion', 'bash']);
    const bin = new URL('../../node_modules/.bin/', import.meta.url).pathname;
    const questions = `${script}
      COMP_WORDS=(hw webhooks cr); COMP_CWORD=2; _hw; echo "\${COMPREPLY[@]}"
      COMP_WORDS=(hw env ''); COMP_CWORD=2; _hw; echo "\${COMPREPLY[@]}"`;
    const env = { ...user.env, PATH: `${bin}:/usr/bin:/bin` };
    const { stdout } = await promisify(execFile)('bash', ['-c', questions], { env });
    expect(stdout).toBe('create\nset list delete\n');
  });

  test('there is a script for zsh and fish, and without a server nothing is said', async () => {
    for (const shell of ['zsh', 'fish']) expect((await user.hw(['completion', shell])).stdout).toContain('__complete');
    expect(await user.hw(['__complete', 'events', ''])).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

test('nearest names are those of few changes, or that contain the word', () => {
  expect(nearest('ordres', ['orders', 'invoices', 'order-lines'])).toEqual(['orders']);
  expect(nearest('bin', ['http-request-bin', 'bib'])).toEqual(['http-request-bin', 'bib']);
  expect(nearest('x', ['orders'])).toEqual([]);
});

test('a large folder is split into whole apps that fit a request, and nothing is lost', () => {
  const text = 'x'.repeat(1000);
  const files = Object.fromEntries(
    ['a', 'b', 'c', 'd'].flatMap((app) => [
      [`components/${app}/${app}.app.mjs`, text],
      [`components/${app}/sources/s/s.mjs`, text],
    ]),
  );
  const all = { ...files, 'package.json': '{}' };
  const parts = splitTree(all, 4_500);
  expect(parts.length).toBe(2);
  expect(parts.every((part) => bytesOfTree(part) <= 4_500)).toBe(true);
  expect(parts.every((part) => part['package.json'] === '{}')).toBe(true);
  expect(Object.assign({}, ...parts)).toEqual(all);
  expect(splitTree({ 'one.mjs': text }, 10)).toEqual([{ 'one.mjs': text }]);
});

test('help fits the terminal', async () => {
  for (const words of [[], ['deploy'], ['webhooks']]) {
    const { stdout } = await ask(['help', ...words], { NO_COLOR: '1' }, 64);
    // Commands to copy are never wrapped.
    const lines = stdout.split('\n').filter((line) => !/^ {2}(?:hw|#) /.test(line));
    expect(lines.filter((line) => line.length > 64)).toEqual([]);
    expect(lines.some((line) => line.length > 50)).toBe(true);
  }
});

describe('a table on a terminal', () => {
  const style = createStyle(false);
  const columns = [
    { title: 'NAME', value: (row: { name: string }) => row.name },
    { title: 'ID', whole: true, value: () => 'dc_12345678901234567890' },
    { title: 'URL', value: () => 'https://example.com/a/long/way' },
  ];
  const lines = (names: string[], width?: number) =>
    renderTable(
      names.map((name) => ({ name })),
      columns,
      { style, aligned: true, width },
    ).split('\n');

  test('is as wide as it needs, and fits where there is less room, with whole ids', () => {
    expect(lines(['n'.repeat(100)])[1]).toHaveLength(100 + 2 + 23 + 2 + 30);
    for (const line of lines(['n'.repeat(100), 'short'], 60)) expect(line.length).toBeLessThanOrEqual(60);
    expect(lines(['n'.repeat(100)], 60)[1]).toMatch(/^n+…  dc_12345678901234567890  https:\S+…$/);
    // Nothing is left to give.
    expect(lines(['n'.repeat(100)], 10)[1]).toContain('dc_12345678901234567890');
  });

  test('has its columns in line also for letters that take two cells, and marks that take none', () => {
    const [head = '', ...rows] = lines(['日本語', 'e\u0301te\u0301', '👍🏽 ok', 'plain']);
    const at = head.indexOf('ID');
    for (const row of rows) expect(textWidth(row.slice(0, row.indexOf('dc_')))).toBe(at);
    expect(shorten('日本語', 5)).toBe('日本…');
  });
});
