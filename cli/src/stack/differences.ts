import { isDeepStrictEqual } from 'node:util';
import type { Component, ComponentProp, Source, Webhook, Workflow } from '../api/resources.ts';
import type { Account } from './account.ts';
import { stackComponentChoice, isComponent } from './component.ts';
import { findEnd } from './find-resource.ts';
import { type Described, type Fields, isFields, type StackFile, shownText } from './stack-file.ts';
import type { StackState } from './stack-state.ts';
import { isThere, type Places, Unresolved } from './values.ts';

/** The fields that a folder asks for, and those that it is compared with. */
export interface Comparison {
  file: StackFile;
  account: Account;
  state: StackState;
  places: Places;
}

export interface Differences {
  changed: string[];
  etag?: string | undefined;
  hidden?: string[];
}

/** The fields of the file that differ in the account. */
export async function differences(comparison: Comparison, described: Described, id: string): Promise<Differences> {
  const { account } = comparison;
  const { kind, fields } = described;
  switch (kind) {
    case 'environment_variable':
      return {
        changed: plainChanges(
          fields,
          ['description'],
          account.variables.find(({ name }) => name === id),
        ),
      };
    case 'data_store':
      return {
        changed: plainChanges(
          fields,
          ['description'],
          account.stores.find((store) => store.id === id),
        ),
      };
    case 'source': {
      const source = await account.source(id);
      return { changed: await sourceChanges(comparison, fields, source), etag: source.etag };
    }
    case 'workflow': {
      const workflow = await account.workflow(id);
      const hidden = hiddenTexts(fields, workflow);
      return { changed: await workflowChanges(comparison, fields, workflow), etag: workflow.etag, hidden };
    }
    case 'webhook': {
      const webhook = await account.webhook(id);
      return { changed: await webhookChanges(comparison, fields, webhook), etag: webhook.etag };
    }
    case 'subscription': {
      const there = account.subscriptions.find((one) => one.id === id);
      return { changed: isDeepStrictEqual(fields['filter'] ?? null, there?.filter) ? [] : ['filter'] };
    }
  }
}

function plainChanges(fields: Fields, names: readonly string[], there: object | undefined): string[] {
  const known = (there ?? {}) as Fields;
  return names.filter((name) => fields[name] !== undefined && !isDeepStrictEqual(fields[name], known[name]));
}

async function sourceChanges(comparison: Comparison, fields: Fields, source: Source): Promise<string[]> {
  const { account, file } = comparison;
  const changed = plainChanges(fields, ['name', 'active', 'preflight', 'durability'], source);
  if (typeof fields['component'] === 'string') {
    const choice = await stackComponentChoice(fields['component'], file.folder);
    if (!isComponent(await account.component(source.component_id), choice)) changed.push('component');
  }
  const props = isFields(fields['props']) ? fields['props'] : {};
  changed.push(...propChanges(comparison, props, source.configured_props, source.configurable_props, 'props'));
  return changed;
}

function propChanges(
  { places }: Comparison,
  wanted: Fields,
  there: Readonly<Record<string, unknown>>,
  definitions: readonly ComponentProp[],
  path: string,
): string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const definition = definitions.find((one) => one.name === name);
    // The account does not tell it: hiddenTexts has it.
    if (definition?.['secret'] === true && there[name] === undefined) {
      if (typeof value === 'string' && !value.includes('{{'))
        throw new Unresolved(
          `has the secret ${name} in the file; give it from the environment: ${name}: { $env: NAME }`,
        );
      return [];
    }
    return isThere(value, there[name], places, definition?.type) ? [] : [`${path}.${name}`];
  });
}

async function workflowChanges(comparison: Comparison, fields: Fields, workflow: Workflow): Promise<string[]> {
  const changed = plainChanges(fields, ['name', 'active'], workflow);
  if (fields['triggers'] !== undefined && !areTriggers(comparison, listOf(fields['triggers']), workflow))
    changed.push('triggers');
  const steps = listOf(fields['steps']);
  const isSame =
    steps.length === workflow.steps.length &&
    steps.every(({ namespace }, i) => namespace === workflow.steps[i]?.namespace);
  if (!isSame) changed.push('steps');
  else
    for (const [i, step] of steps.entries()) {
      const there = workflow.steps[i];
      if (there !== undefined) changed.push(...(await stepChanges(comparison, step, there)));
    }
  const settings = isFields(fields['settings']) ? fields['settings'] : {};
  for (const [name, value] of Object.entries(settings))
    if (!isDeepStrictEqual(value, workflow.settings[name])) changed.push(`settings.${name}`);
  return changed;
}

async function stepChanges(comparison: Comparison, step: Fields, there: Workflow['steps'][number]): Promise<string[]> {
  const { account, file } = comparison;
  const path = `steps.${there.namespace}`;
  const changed = plainChanges(step, ['retries', 'on_error'], there).map((name) => `${path}.${name}`);
  if (typeof step['component'] === 'string') {
    const component: Component = await account.component(there.component_id);
    if (!isComponent(component, await stackComponentChoice(step['component'], file.folder)))
      changed.push(`${path}.component`);
  }
  const props = isFields(step['props']) ? step['props'] : {};
  return [...changed, ...propChanges(comparison, props, there.props, there.configurable_props, `${path}.props`)];
}

/** Expressions in secret props of steps, which the account keeps as it keeps secrets. */
export function hiddenTexts({ steps }: Fields, workflow: Pick<Workflow, 'steps'>): string[] {
  return listOf(steps).flatMap(({ namespace, props }, i) => {
    const { configurable_props: definitions = [], props: there = {} } = workflow.steps[i] ?? {};
    return Object.entries(isFields(props) ? props : {}).flatMap(([name, value]) => {
      const isSecret = definitions.find((one) => one.name === name)?.['secret'] === true && there[name] === undefined;
      return isSecret && typeof value === 'string' ? [`${shownText(namespace)}.${name}: ${value}`] : [];
    });
  });
}

function areTriggers(comparison: Comparison, wanted: readonly Fields[], { triggers }: Workflow): boolean {
  if (wanted.length !== triggers.length) return false;
  return wanted.every((trigger, i) => {
    const there = triggers[i] as Fields;
    const { source, event_name: channel = '', custom_response: answers } = trigger;
    if (source !== undefined)
      return there['source_id'] === triggerEnd(comparison, trigger) && there['event_name'] === channel;
    if (there['type'] === 'timer') return isThere(trigger, there, comparison.places, '$.interface.timer');
    if (trigger['type'] !== there['type']) return false;
    return answers === undefined || answers === there['custom_response'];
  });
}

/** Told in other ways than the others, or not at all. */
const UNLIKE_OTHERS = new Set(['id', 'secret', 'client_key', 'transform']);

async function webhookChanges(comparison: Comparison, fields: Fields, webhook: Webhook & Fields): Promise<string[]> {
  const { places } = comparison;
  const keepsTransform = await isTransformOf(comparison, fields['transform'], webhook.transform_id ?? null);
  const others = Object.entries(fields).flatMap(([name, value]) => {
    if (UNLIKE_OTHERS.has(name)) return [];
    if (name !== 'headers') return isThere(value, webhook[name], places) ? [] : [name];
    const wanted = lowerCased(value);
    const there = (webhook[name] ?? {}) as Fields;
    const isSame = isDeepStrictEqual(Object.keys(wanted).toSorted(), Object.keys(there).toSorted());
    return isSame && Object.entries(wanted).every(([header, text]) => isThere(text, there[header], places))
      ? []
      : [name];
  });
  return keepsTransform ? others : [...others, 'transform'];
}

async function isTransformOf({ account, file }: Comparison, wanted: unknown, id: string | null): Promise<boolean> {
  if (wanted === undefined) return true;
  if (typeof wanted !== 'string') return id === null;
  const choice = await stackComponentChoice(wanted, file.folder);
  return id !== null && isComponent(await account.component(id), choice);
}

function lowerCased(headers: unknown): Fields {
  const entries = Object.entries((headers ?? {}) as Fields);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/** Id of the emitter that starts the workflow, or `pending`. */
export function triggerEnd(comparison: Comparison, { source }: Fields): string | undefined {
  if (source === undefined) return undefined;
  const id = findEnd(comparison, shownText(source), ['source', 'workflow']);
  if (id === undefined)
    throw new Unresolved(`is started by ${shownText(source)}, which is no source or workflow, or several`);
  return id;
}

/** The ids of both ends, or `pending`. */
export function endsOf(comparison: Comparison, { from, to }: Fields): { emitter: string; listener: string } {
  const emitter = findEnd(comparison, shownText(from), ['source', 'workflow']);
  const listener = findEnd(comparison, shownText(to), ['webhook', 'source', 'workflow']);
  const missing = emitter === undefined ? from : to;
  if (emitter === undefined || listener === undefined)
    throw new Unresolved(`names ${shownText(missing)}, which is not there, or several`);
  return { emitter, listener };
}

/** By its ends and its channel. */
export function findSubscription(comparison: Comparison, fields: Fields): string | undefined {
  const { emitter, listener } = endsOf(comparison, fields);
  const channel = fields['channel'] ?? '';
  return comparison.account.subscriptions.find(
    (one) => one.emitter_id === emitter && one.listener_id === listener && one.event_name === channel,
  )?.id;
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}
