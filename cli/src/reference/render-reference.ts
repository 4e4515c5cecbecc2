import { type CommandSpec, GLOBAL_OPTIONS, type GroupSpec, type OptionSpec } from '../command.ts';
import { EXIT, EXIT_MEANINGS } from '../exit-codes.ts';
import { aliasPath, argumentWord, exitNames, exitsOf, optionWords, usageOf } from '../help.ts';

/** The page docs/cli.md, from the definitions of the commands. */
export function renderReference(commands: readonly CommandSpec[], groups: readonly GroupSpec[]): string {
  const exits = exitNames().map((name): Row => [String(EXIT[name]), EXIT_MEANINGS[name]]);
  return [
    INTRODUCTION,
    `## Options of all commands\n\n${optionTable(GLOBAL_OPTIONS)}`,
    `## Exit codes\n\n${table(['code', 'means'], exits)}`,
    `## Commands\n\n${tableOfContents(commands)}`,
    ...commands.map(renderCommand),
    groupAliases(groups),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `# \`hw\`, the command line

<!-- Made from the definitions in cli/src/commands by \`npm run fix:cli-docs\`: change it there. -->

From an empty folder to live events:

\`\`\`sh
hw login
hw init source new-orders
hw deploy new-orders.mjs
hw events new-orders -f
\`\`\`

In a checkout of this repository it is \`npx hw\` after \`npm ci\`; \`ln -s "$PWD/cli/bin/hw.js"
~/.local/bin/hw\` makes it \`hw\` in every folder. It needs nothing but a server to talk to, and sends
nothing to anybody else.

- **Names.** Sources, workflows and webhooks are named by id, by slug or by name. A name that
  several have is refused with the candidates; one that nobody has with the nearest ones.
- **Logins** are in \`$XDG_CONFIG_HOME/headwater/config.json\` (else \`~/.config\`), a file that only
  you may read. \`HEADWATER_URL\`, \`HEADWATER_API_KEY\` and \`HEADWATER_PROFILE\` go before it, options
  before those. The key of a profile is sent to the server of that profile alone.
- **Proxies.** \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\` are heeded, but for a server on this
  machine, which is always asked directly. \`NODE_EXTRA_CA_CERTS\` names authorities to trust.
- **Output.** Results go to stdout, everything about them to stderr. On a terminal they are for
  people; elsewhere rows and events are lines with tabs between their cells. \`--json\` is stable:
  fields are added, never removed or renamed.
- **Errors** are a line that says what is wrong, lines that say where, and one that says what to do.
  With \`--json\` they are \`{ "error": { code, message, hint?, fields?, exit_code, request_id? } }\` on
  stderr; \`code\` is that of the server where it refused.
- **Questions** are asked at a terminal alone, and never with \`--json\`.
- **Following** (\`-f\`) takes a lost connection up where it broke off, without showing anything
  twice.`;

function tableOfContents(commands: readonly CommandSpec[]): string {
  const rows = commands.map(
    ({ path, summary }): Row => [`[\`hw ${path}\`](#hw-${path.replaceAll(' ', '-')})`, summary],
  );
  return table(['command', 'does'], rows);
}

function renderCommand(command: CommandSpec): string {
  const { path, summary, details, examples, json, aliases = [], options = [] } = command;
  const specs = (command.arguments ?? []).map((spec): Row => [`\`${argumentWord(spec)}\``, spec.summary]);
  const exits = [...new Set(exitsOf(command).map((name) => EXIT[name]))];
  const parts = [
    `### \`hw ${path}\``,
    wrap(`${summary}.${details === undefined ? '' : ` ${details}`}`),
    `\`\`\`sh\n${usageOf(command)}\n\`\`\``,
    aliases.length === 0 ? undefined : `Also: ${aliases.map((alias) => `\`${aliasPath(path, alias)}\``).join(', ')}.`,
    specs.length === 0 ? undefined : table(['argument', ''], specs),
    options.length === 0 ? undefined : optionTable(options),
    `\`\`\`sh\n${examples.map(({ does, command: line }) => `# ${does}\n${line}`).join('\n')}\n\`\`\``,
    wrap(`\`--json\`: ${json}. Exit codes: ${exits.join(', ')}.`),
  ];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map((option): Row => {
    const choices = option.choices === undefined ? '' : ` One of ${option.choices.join(', ')}.`;
    return [`\`${optionWords(option)}\``, option.summary + choices];
  });
  return table(['option', ''], rows);
}

function groupAliases(groups: readonly GroupSpec[]): string {
  const lines = groups.flatMap(({ name, aliases = [] }) =>
    aliases.length === 0 ? [] : [`- \`hw ${name}\`: ${aliases.map((alias) => `\`hw ${alias}\``).join(', ')}`],
  );
  return `## Shorter words\n\n${lines.join('\n')}`;
}

const MAX_COLUMNS = 100;

/** A paragraph, or an item of a list, whose lines go on two columns further right. */
function wrap(text: string): string {
  const indent = text.startsWith('- ') ? '  ' : '';
  let column = 0;
  return text
    .split(/\s+/)
    .map((word) => {
      const isFirst = column === 0;
      const fits = isFirst || column + 1 + word.length <= MAX_COLUMNS;
      column = fits ? column + (isFirst ? 0 : 1) + word.length : indent.length + word.length;
      return isFirst ? word : fits ? ` ${word}` : `\n${indent}${word}`;
    })
    .join('');
}

type Row = readonly [string, string];

/** In line, as the formatter of the repository has it. */
function table(head: Row, rows: readonly Row[]): string {
  const cells = [head, ...rows].map(([first, second]): Row => [cell(first), cell(second)]);
  const widths = [0, 1].map((at) => Math.max(3, ...cells.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]) => `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [first = head, ...others] = cells;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
