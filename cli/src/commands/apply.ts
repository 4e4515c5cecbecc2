import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import { CliError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { readAccount } from '../stack/account.ts';
import { applyChange } from '../stack/apply-plan.ts';
import { findResource } from '../stack/find-resource.ts';
import { type Comparison, findSubscription } from '../stack/differences.ts';
import { type Change, makePlan, type Plan } from '../stack/plan.ts';
import { readStackFile, type StackFile } from '../stack/stack-file.ts';
import { holdStack, readState } from '../stack/stack-state.ts';
import type { Places } from '../stack/values.ts';
import { confirmed, YES } from './delete.ts';

export const apply: CommandSpec = {
  path: 'apply',
  summary: 'Make the account as a folder says: sources, workflows, webhooks, subscriptions',
  details:
    'The folder has a headwater.yaml beside the files of its components; docs/as-code.md describes it. What differs is shown and then made, in the order in which one needs the other. What the file does not name stays as it is. Secrets come from the environment of this command. It can be repeated, and ends at once where somebody else applies the same stack.',
  arguments: [{ name: 'folder', summary: 'Default: this one.', optional: true, completes: 'files' }],
  options: [
    { name: 'plan', summary: 'Only show what would change; ends with 2 where something would.' },
    { name: 'prune', summary: 'Delete what the folder has made and no longer names.' },
    { name: 'adopt', summary: 'Take over what is there as the file says: --prune may delete it later.' },
    YES,
  ],
  examples: [
    { does: 'What would change?', command: 'hw apply shop --plan' },
    { does: 'In CI', command: 'hw apply shop --prune --yes' },
  ],
  json: '{ stack, applied, changes: [{ action, kind, key, id, fields }] }; action is `create`, `update` or `delete`',
  exits: [...COMPONENT_EXITS, 'pending'],
  async run(context) {
    const { input } = context;
    const word = input.optionalArgument('folder') ?? '.';
    const file = await readStackFile(path.resolve(context.workDir, word), word);
    const api = await context.api();
    const { comparison, plan } = await context.output.progress('Comparing', () => planFor(context, api, file));
    if (input.flag('plan')) {
      const text = describePlan(file, plan, input.flag('prune'));
      return { ...answer(file, plan, false, text), ...(plan.changes.length === 0 ? {} : { exit: 'pending' as const }) };
    }
    if (plan.changes.length === 0 && !input.flag('adopt'))
      return answer(file, plan, true, describePlan(file, plan, input.flag('prune')));
    if (plan.changes.length > 0) {
      context.output.note(describePlan(file, plan, input.flag('prune')));
      await confirmed(context, `Make ${countOf(plan.changes)}?`, 'Nothing was changed');
    }
    await applyPlan(context, api, comparison, plan);
    return answer(file, plan, true, `Made ${countOf(plan.changes)}.`);
  },
};

async function planFor({ input, environment }: CommandContext, api: ApiClient, file: StackFile) {
  const [account, state] = await Promise.all([readAccount(api), readState(api, file.name)]);
  const idOf = (kind: 'data_store', key: string) => {
    const described = file.resources.find((one) => one.kind === kind && one.key === key);
    return findResource(account, state, described ?? { kind, key, fields: {} });
  };
  const places: Places = {
    environment: environment.inherited,
    folder: file.folder,
    storeId: (name) => idOf('data_store', name),
    accountId(name) {
      const found = account.connected.filter((one) => one.id === name || one.name === name);
      return found.length === 1 ? found[0]?.id : undefined;
    },
  };
  const comparison: Comparison = { file, account, state, places };
  return { comparison, plan: await makePlan(comparison, input.flag('prune')) };
}

/** Plans again while this process holds the stack, so that only the shown changes are made. */
async function applyPlan(context: CommandContext, api: ApiClient, shown: Comparison, plan: Plan): Promise<void> {
  const held = await holdStack(api, shown.file.name);
  try {
    const { comparison, plan: now } = await planFor(context, api, shown.file);
    if (JSON.stringify(shownChanges(now.changes)) !== JSON.stringify(shownChanges(plan.changes)))
      throw new CliError('failure', 'The account was changed meanwhile; nothing was written', {
        code: 'PLAN_CHANGED',
        hint: 'Look at the plan again, and apply it',
      });
    const applying = { ...comparison, api, held };
    for (const change of now.changes)
      await context.output.progress(lineOf(change), () => applyChange(applying, change));
    if (context.input.flag('adopt')) await adopt(applying);
  } finally {
    await held.release();
  }
}

async function adopt(applying: Parameters<typeof applyChange>[0]): Promise<void> {
  const { file, account, state, held } = applying;
  for (const described of file.resources) {
    const { kind, key, fields } = described;
    const id = kind === 'subscription' ? findSubscription(applying, fields) : findResource(account, state, described);
    if (id === undefined || held.resources.some((one) => one.id === id)) continue;
    await held.note({ kind, key, id });
  }
}

function shownChanges(changes: readonly Change[]) {
  return changes.map(({ action, kind, key, id, fields }) => ({
    action,
    kind,
    key,
    ...(id && { id }),
    ...(fields && { fields }),
  }));
}

function answer({ name: stack }: StackFile, { changes }: Plan, applied: boolean, text: string) {
  return { json: { stack, applied, changes: shownChanges(changes) }, text, quiet: '' };
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const;

function lineOf({ action, kind, key, fields, foreign }: Change): string {
  const what = `${SIGNS[action]} ${action} ${kind.replace('_', ' ')} ${key}`;
  const which = fields === undefined ? '' : `: ${fields.join(', ')}`;
  return `${what}${which}${foreign === true ? ' (not made from this folder)' : ''}`;
}

function describePlan({ name }: StackFile, { changes, left }: Plan, prune: boolean): string {
  const lines = changes.length === 0 ? [`${name}: nothing to change.`] : changes.map(lineOf);
  if (left.length > 0 && !prune) {
    const names = left.map(({ kind, key }) => `${kind.replace('_', ' ')} ${key}`).join(', ');
    lines.push(`No longer in the file: ${names}. --prune deletes them.`);
  }
  return lines.join('\n');
}

function countOf({ length }: readonly Change[]): string {
  return length === 1 ? '1 change' : `${length} changes`;
}
