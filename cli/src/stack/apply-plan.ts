import type { Subscription } from '@headwater/shared/contract';
import type { ApiClient } from '../api/client.ts';
import type { Component, Source, Webhook, Workflow } from '../api/resources.ts';
import { CliError } from '../cli-error.ts';
import { saveComponent } from '../commands/which-component.ts';
import type { DataStore } from './account.ts';
import { stackComponentChoice } from './component.ts';
import { type Comparison, endsOf, hiddenTexts, listOf, triggerEnd } from './differences.ts';
import { type Change, planError } from './plan.ts';
import { type Described, type Fields, isFields, type Kind } from './stack-file.ts';
import type { HeldStack } from './stack-state.ts';
import { fingerprint, resolveValue, secretNames, timerValue, Unresolved } from './values.ts';

export interface Applying extends Comparison {
  api: ApiClient;
  held: HeldStack;
}

/** Makes one change, and notes it at once: what follows may fail. */
export async function applyChange(applying: Applying, change: Change): Promise<void> {
  const { file, held, places } = applying;
  const { kind, key, described } = change;
  if (change.action === 'delete') {
    await remove(applying, kind, change.id ?? '');
    await held.forget(change.id ?? '');
    return;
  }
  if (described === undefined) return;
  try {
    const { id, hidden = [] } = await put(applying, change, described);
    const before = held.resources.find((one) => one.kind === kind && one.id === id);
    if (change.action === 'update' && before === undefined) return;
    const names = kind === 'environment_variable' ? [key] : secretNames(described.fields);
    const secrets = fingerprint({ names, hidden }, places) ?? before?.secrets;
    await held.note({ kind, key, id, ...(secrets === undefined ? {} : { secrets }) });
  } catch (error) {
    if (error instanceof Unresolved) throw planError(file, described, new CliError('failure', error.message));
    if (error instanceof CliError) throw planError(file, described, error);
    throw error;
  }
}

interface Made {
  id: string;
  hidden?: string[];
}

async function put(applying: Applying, change: Change, described: Described): Promise<Made> {
  const { api, account } = applying;
  const { fields, key } = described;
  switch (described.kind) {
    case 'environment_variable':
      return { id: await putVariable(applying, key, fields) };
    case 'data_store': {
      const body = { description: fields['description'] };
      const store = await send<DataStore>(api, '/data_stores', change, { ...body, name: key });
      if (change.id === undefined) account.stores.push(store);
      return { id: store.id };
    }
    case 'source':
      return { id: await putSource(applying, change, fields) };
    case 'workflow':
      return putWorkflow(applying, change, fields);
    case 'webhook':
      return { id: await putWebhook(applying, change, fields) };
    case 'subscription':
      return { id: await putSubscription(applying, change, fields) };
  }
}

function send<T>(api: ApiClient, path: string, { id, etag }: Change, body: Fields): Promise<T> {
  const headers: Record<string, string> = etag === undefined ? {} : { 'if-match': `"${etag}"` };
  return id === undefined ? api.send<T>('POST', path, body) : api.send<T>('PUT', `${path}/${id}`, body, headers);
}

async function putVariable({ api, places }: Applying, name: string, fields: Fields): Promise<string> {
  const value = places.environment[name];
  if (value === undefined) throw new Unresolved(`needs the environment variable ${name}`);
  await api.send('PUT', `/environment_variables/${name}`, { value, description: fields['description'] });
  return name;
}

/** A stopped one is stopped after it was made: no other request makes one that is. */
async function stopIfNew(api: ApiClient, path: string, change: Change, { active }: Fields): Promise<void> {
  if (change.id === undefined && active === false) await api.send('PUT', path, { active: false });
}

const activeOf = (change: Change, { active }: Fields): Fields =>
  change.id === undefined || active === undefined ? {} : { active };

async function putSource(applying: Applying, change: Change, fields: Fields): Promise<string> {
  const { api, account, places, file } = applying;
  const component = typeof fields['component'] === 'string' ? fields['component'] : undefined;
  const isNewCode = change.id === undefined || change.fields?.includes('component') === true;
  const choice = component === undefined || !isNewCode ? undefined : await stackComponentChoice(component, file.folder);
  const saved = choice === undefined ? undefined : await saveComponent(api, choice);
  const there = change.id === undefined ? undefined : await account.source(change.id);
  const definitions = saved?.configurable_props ?? there?.configurable_props ?? [];
  const props = isFields(fields['props']) ? fields['props'] : {};
  refuseSecrets(props, definitions);
  const types = new Map(definitions.map(({ name, type }) => [name, type]));
  const values = Object.entries(props).map(([name, value]): [string, unknown] => [
    name,
    types.get(name) === '$.interface.timer' ? timerValue(value) : resolveValue(value, places, there !== undefined),
  ]);
  const body = {
    ...(saved === undefined
      ? {}
      : choice?.parameters['component_key']
        ? choice.parameters
        : { component_id: saved.id }),
    ...(component === undefined && change.id === undefined ? { kind: 'ingest' } : {}),
    ...(component === undefined ? {} : { configured_props: Object.fromEntries(values) }),
    ...(change.id === undefined ? { name: fields['name'] ?? change.key } : { name: fields['name'], if_changed: true }),
    preflight: fields['preflight'],
    durability: fields['durability'],
    ...activeOf(change, fields),
  };
  const source = await send<Source>(api, '/sources', change, body);
  if (change.id === undefined) account.sources.push(source);
  await stopIfNew(api, `/sources/${source.id}`, change, fields);
  return source.id;
}

/** The props of a new component, which are known by now. */
function refuseSecrets(props: Fields, definitions: Component['configurable_props'] = []): void {
  for (const { name, secret } of definitions)
    if (secret === true && typeof props[name] === 'string')
      throw new Unresolved(`has the secret ${name} in the file; give it from the environment: ${name}: { $env: NAME }`);
}

async function putWorkflow(applying: Applying, change: Change, fields: Fields): Promise<Made> {
  const { api, account, places, file } = applying;
  const steps = await Promise.all(
    listOf(fields['steps']).map(async ({ component, ...step }, i) => {
      const isKept = change.id !== undefined && !mustSendCode(change, String(step['namespace']));
      const choice =
        typeof component === 'string' && !isKept ? await stackComponentChoice(component, file.folder) : undefined;
      const there = change.id === undefined ? undefined : (await account.workflow(change.id)).steps[i];
      const props = resolveValue(step['props'], places, there !== undefined);
      return { ...step, ...choice?.parameters, ...(props === undefined ? {} : { props }) };
    }),
  );
  const triggers = listOf(fields['triggers']).map(({ source, ...trigger }) =>
    source === undefined ? trigger : { ...trigger, source_id: triggerEnd(applying, { source }) },
  );
  const body = {
    name: change.id === undefined ? (fields['name'] ?? change.key) : fields['name'],
    steps,
    ...(fields['triggers'] === undefined ? {} : { triggers }),
    settings: fields['settings'],
    ...activeOf(change, fields),
  };
  const workflow = await send<Workflow>(api, '/workflows', change, body);
  if (change.id === undefined) account.workflows.push(workflow);
  await stopIfNew(api, `/workflows/${workflow.id}`, change, fields);
  return { id: workflow.id, hidden: hiddenTexts(fields, workflow) };
}

/** A step keeps the component that it has: its code is not saved again. */
function mustSendCode({ fields = [] }: Change, namespace: string): boolean {
  return fields.includes('steps') || fields.includes(`steps.${namespace}.component`);
}

/** A file is saved first, so that the webhook names one version of it. */
async function transformOf({ api, file }: Applying, change: Change, wanted: unknown): Promise<Fields> {
  const isKept = change.id !== undefined && change.fields?.includes('transform') !== true;
  if (isKept || wanted === undefined) return {};
  if (typeof wanted !== 'string') return change.id === undefined ? {} : { transform_id: null };
  return { transform_id: (await saveComponent(api, await stackComponentChoice(wanted, file.folder))).id };
}

async function putWebhook(applying: Applying, change: Change, fields: Fields): Promise<string> {
  const { api, account, places } = applying;
  const { secret, signature, transform, active: _, id: __, ...given } = fields;
  const settings = resolveValue(given, places, change.id !== undefined) as Fields;
  const signing = resolveValue(secret, places, true);
  const name = fields['name'] ?? (change.id === undefined ? change.key : undefined);
  const body = {
    ...settings,
    ...(await transformOf(applying, change, transform)),
    name,
    ...(change.id === undefined ? { secret: signing, signature } : {}),
    ...activeOf(change, fields),
  };
  const there = change.id === undefined ? undefined : await account.webhook(change.id);
  const webhook = await send<Webhook>(api, '/webhooks', change, body);
  const isSame = (value: unknown, now: unknown) => value === undefined || value === now;
  if (there !== undefined && !(isSame(signing, there.secret) && isSame(signature, there.signature)))
    await api.send('POST', `/webhooks/${webhook.id}/rotate_secret`, { secret: signing, signature });
  if (change.id === undefined) account.webhooks.push(webhook);
  await stopIfNew(api, `/webhooks/${webhook.id}`, change, fields);
  return webhook.id;
}

async function putSubscription(applying: Applying, change: Change, fields: Fields): Promise<string> {
  const { api, account } = applying;
  const filter = fields['filter'] ?? null;
  if (change.id !== undefined) {
    await api.send('PUT', `/subscriptions/${change.id}`, { filter });
    return change.id;
  }
  const { emitter, listener } = endsOf(applying, fields);
  const ends = { emitter_id: emitter, listener_id: listener, event_name: fields['channel'] };
  const made = await api.send<Subscription>('POST', '/subscriptions', {
    ...ends,
    ...(filter === null ? {} : { filter }),
  });
  account.subscriptions.push(made);
  return made.id;
}

const PATHS: Readonly<Record<Exclude<Kind, 'subscription'>, string>> = {
  environment_variable: '/environment_variables',
  data_store: '/data_stores',
  source: '/sources',
  workflow: '/workflows',
  webhook: '/webhooks',
};

/** A thing that is gone already is deleted: a subscription goes with its ends. */
async function remove({ api, account }: Applying, kind: Kind, id: string): Promise<void> {
  try {
    if (kind !== 'subscription') return void (await api.send('DELETE', `${PATHS[kind]}/${id}`));
    const there = account.subscriptions.find((one) => one.id === id);
    if (there === undefined) return;
    const { emitter_id, listener_id, event_name } = there;
    await api.send('DELETE', '/subscriptions', { emitter_id, listener_id, event_name });
  } catch (error) {
    if (!(error instanceof CliError) || error.exit !== 'notFound') throw error;
  }
}
