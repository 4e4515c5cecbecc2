import path from 'node:path';
import { usageError } from '../cli-error.ts';
import type { CommandSpec, OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { slugOfName } from '../names/named-kinds.ts';
import {
  actionTemplate,
  appTemplate,
  sourceTemplate,
  type TemplateChoice,
  workflowTemplate,
} from '../templates/component-templates.ts';
import { writeNew, writeTsconfig } from '../templates/write-files.ts';
import { findTypesPlace, referenceTo, TYPES_FILE, writeTypes } from '../templates/write-types.ts';
import { initTypes } from './init-types.ts';

const TS: OptionSpec = { name: 'ts', summary: 'TypeScript, with a tsconfig.json where there is none.' };
const FORCE: OptionSpec = { name: 'force', summary: 'Replace a file that is there.' };
const NAME = { name: 'name', summary: 'What it is called, e.g. new-orders; with folders before it, it is made there.' };
const JSON_SHAPE = '{ files: [paths] }: those that were made or changed';
const TYPES_DETAILS = `Beside it, or where the project begins, comes \`${TYPES_FILE}\`: the types that your editor shows.`;

const source: CommandSpec = {
  path: 'init source',
  summary: 'Make the file of a source that can be deployed as it is',
  details: `Without --http and --timer it has an HTTP endpoint. ${TYPES_DETAILS}`,
  arguments: [NAME],
  options: [
    { name: 'http', summary: 'Started by requests to its URL.' },
    { name: 'timer', summary: 'Started by a timer.' },
    { name: 'db', summary: 'Keeps values from run to run.' },
    TS,
    FORCE,
  ],
  examples: [
    { does: 'Started by requests', command: 'hw init source new-orders' },
    { does: 'By a timer, with memory, in TypeScript', command: 'hw init source poll-feed --timer --db --ts' },
  ],
  json: JSON_SHAPE,
  run(context) {
    const timer = context.input.flag('timer');
    const http = context.input.flag('http') || !timer;
    const choice = { http, timer, db: context.input.flag('db') };
    return writeComponent(context, choice, sourceTemplate, (file) => [
      `Work on it: hw dev ${file}`,
      `Deploy it: hw deploy ${file}`,
    ]);
  },
};

const action: CommandSpec = {
  path: 'init action',
  summary: 'Make the file of an action, a step of workflows',
  arguments: [NAME],
  options: [TS, FORCE],
  examples: [{ does: 'An action', command: 'hw init action send-order' }],
  json: JSON_SHAPE,
  run: (context) =>
    writeComponent(context, {}, actionTemplate, (file) => [
      `Work on it: hw dev ${file} --prop text=hello`,
      `Publish it for your workflows: hw publish ${file}`,
    ]),
};

const app: CommandSpec = {
  path: 'init app',
  summary: 'Make the file of an app: what the components of one service share',
  details: 'The slug of the app is its name: `GET /v1/apps` lists those that the server knows.',
  arguments: [NAME],
  options: [TS, FORCE],
  examples: [{ does: 'An app', command: 'hw init app acme' }],
  json: JSON_SHAPE,
  run: (context) =>
    writeComponent(
      context,
      {},
      appTemplate,
      (file) => [`Components import it: import app from './${path.basename(file)}'`],
      '.app',
    ),
};

const workflow: CommandSpec = {
  path: 'init workflow',
  summary: 'Make the files of a workflow that can be created as it is',
  details: `A JSON file with a trigger and a step, and the file of the step's code. ${TYPES_DETAILS}`,
  arguments: [NAME],
  options: [TS, FORCE],
  examples: [{ does: 'A workflow that requests start', command: 'hw init workflow order-intake' }],
  json: JSON_SHAPE,
  async run(context) {
    const { input, workDir } = context;
    const { folder, slug } = placeOf(input.argument('name'), '.json');
    const file = path.join(folder, `${slug}.json`);
    const step = await writeComponent(context, {}, actionTemplate, () => [], '.step');
    const code = path.basename(step.json.files[0] as string);
    await writeNew(path.resolve(workDir, file), file, workflowTemplate(titleOf(slug), code), input.flag('force'));
    const files = [file, ...step.json.files];
    const lines = [
      ...files.map((made) => `Made ${made}`),
      `Work on it: hw dev ${file}`,
      `Create it: hw workflows create ${file}`,
    ];
    return { json: { files }, text: lines.join('\n'), quiet: files.join('\n') };
  },
};

/** `ending`: which the name may have already. */
function placeOf(given: string, ending: string | RegExp): { folder: string; slug: string } {
  const name = given.replace(ending, '');
  const slug = slugOfName(path.basename(name));
  if (slug === '') throw usageError(`${name} is no name`, 'Take letters and digits, e.g. new-orders');
  return { folder: path.dirname(name), slug };
}

async function writeComponent(
  { input, workDir }: CommandContext,
  parts: Partial<TemplateChoice>,
  template: (choice: TemplateChoice) => string,
  next: (file: string) => string[],
  suffix = '',
) {
  const { folder, slug } = placeOf(input.argument('name'), /\.(?:[cm]?[jt]s|json)$/);
  const typescript = input.flag('ts');
  const file = path.join(folder, `${slug}${suffix}${typescript ? '.ts' : '.mjs'}`);
  const absolute = path.resolve(workDir, file);
  const place = findTypesPlace(path.dirname(absolute));
  const code = template({ slug, title: titleOf(slug), typescript, http: false, timer: false, db: false, ...parts });
  const reference = place === undefined || typescript ? '' : referenceTo(path.relative(path.dirname(absolute), place));
  await writeNew(absolute, file, reference + code, input.flag('force'));
  const files = [file, ...(typescript ? await writeTsconfig(workDir, file) : [])];
  if (place !== undefined && (await writeTypes(place)) === 'written')
    files.push(path.join(path.relative(workDir, place), TYPES_FILE));
  const lines = [...files.map((made) => `Made ${made}`), ...next(file)];
  return { json: { files }, text: lines.join('\n'), quiet: files.join('\n') };
}

function titleOf(slug: string): string {
  const text = slug.replaceAll('-', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const initCommands: readonly CommandSpec[] = [source, action, app, workflow, initTypes];
