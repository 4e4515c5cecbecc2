import type { Component, ComponentProp } from '../api/resources.ts';
import { isJavaScript } from '../bundle/is-javascript.ts';
import { slugOfName } from '../names/named-kinds.ts';
import type { Account } from './account.ts';
import { OWN_ACCOUNT } from './find-resource.ts';
import type { Fields } from './stack-file.ts';

export interface Exported {
  /** The contents of the file, in its own words. */
  document: Fields;
  /** Code of components, by path in the folder. */
  files: Map<string, string>;
  /** Environment variables that the file names, for secrets that the account does not tell. */
  secrets: string[];
}

interface Exporting extends Exported {
  account: Account;
  /** Names in the file by id, of each thing that others name. */
  names: Map<string, string>;
  /** Paths by code, so that the same code is written once. */
  paths: Map<string, string>;
}

/** A folder of which `hw apply` would make the account again, without its secrets. */
export async function exportAccount(account: Account): Promise<Exported> {
  const [files, names, paths] = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()];
  const exporting: Exporting = { account, document: {}, files, secrets: [], names, paths };
  nameAll(exporting);
  const { document, secrets } = exporting;
  const sections: Fields = {
    environment: exportVariables(account),
    data_stores: exportStores(exporting),
    sources: await exportSources(exporting),
    workflows: await exportWorkflows(exporting),
    webhooks: await exportWebhooks(exporting),
    subscriptions: exportSubscriptions(exporting),
  };
  for (const [section, value] of Object.entries(sections)) {
    const isEmpty = Array.isArray(value) ? value.length === 0 : Object.keys(value as object).length === 0;
    if (!isEmpty) document[section] = value;
  }
  return { document, files, secrets: [...new Set(secrets)].toSorted() };
}

/** Slugs where there are some; else names, with a number where there are several of one. */
function nameAll({ account, names }: Exporting): void {
  for (const { id, name_slug: slug } of account.sources) names.set(id, slug);
  for (const { id, name, name_slug: slug } of account.workflows) names.set(id, slug ?? slugOfName(name));
  for (const things of [account.stores, account.webhooks]) {
    const taken = new Set<string>();
    for (const { id, name } of things.toReversed()) {
      const base = name ?? 'webhook';
      let key = base;
      for (let n = 2; taken.has(key); n++) key = `${base}-${n}`;
      taken.add(key);
      names.set(id, key);
    }
  }
}

const nameOf = ({ names }: Exporting, id: string): string => names.get(id) ?? id;

/** A name that stands for nothing else, or the id beside it. */
function identified(exporting: Exporting, { id, name }: { id: string; name: string | null }): Fields {
  return nameOf(exporting, id) === name ? {} : { id };
}

function exportVariables({ variables }: Account): Fields {
  return Object.fromEntries(
    variables.map(({ name, description }) => [name, description === null ? null : { description }]),
  );
}

function exportStores(exporting: Exporting): Fields {
  const { stores } = exporting.account;
  const entries = stores.map((store): [string, Fields | null] => {
    const fields = {
      ...identified(exporting, store),
      ...(store.description === null ? {} : { description: store.description }),
    };
    return [nameOf(exporting, store.id), Object.keys(fields).length === 0 ? null : fields];
  });
  return Object.fromEntries(entries);
}

const INGEST_BEGINS = '// Events come from POST /v1/sources/{id}/events';

async function exportSources(exporting: Exporting): Promise<Fields> {
  const { account } = exporting;
  const sources: Fields = {};
  for (const { id, name, name_slug: slug, ...source } of account.sources) {
    const component = await account.component(source.component_id);
    const props = exportProps(exporting, slug, source.configurable_props, source.configured_props);
    const isIngest = component.code?.startsWith(INGEST_BEGINS) === true;
    sources[nameOf(exporting, id)] = {
      ...(name === slug ? {} : { name }),
      ...(isIngest ? { ingest: true } : { component: await exportComponent(exporting, component, `sources/${slug}`) }),
      ...(Object.keys(props).length === 0 || isIngest ? {} : { props }),
      ...(source.active ? {} : { active: false }),
      ...(source.preflight === 'allow' ? {} : { preflight: source.preflight }),
      ...(source.durability === 'none' ? { durability: source.durability } : {}),
    };
  }
  return sources;
}

/** A path of the folder, or the URL or key that it came from. */
async function exportComponent(exporting: Exporting, component: Component, base: string): Promise<string> {
  const { code = '', code_url: url, key, version } = component;
  if (url !== null) return url;
  // The account tells only the first of several files.
  if (key !== null && /\bfrom\s*['"]\.{1,2}\//.test(code)) return `${key}@${version}`;
  const known = exporting.paths.get(code);
  if (known !== undefined) return known;
  const ending = (await isJavaScript(code)) ? 'mjs' : 'ts';
  let file = `${base}.${ending}`;
  // Names of webhooks may have the same slug.
  for (let n = 2; exporting.files.has(file); n++) file = `${base}-${n}.${ending}`;
  exporting.files.set(file, code);
  exporting.paths.set(code, `./${file}`);
  return `./${file}`;
}

function exportProps(
  exporting: Exporting,
  owner: string,
  definitions: readonly ComponentProp[],
  configured: Readonly<Record<string, unknown>>,
): Fields {
  const props: Fields = {};
  for (const { name, type, secret, optional, default: fallback } of definitions) {
    const value = configured[name];
    if (type === '$.interface.timer') props[name] = exportTimer(value);
    else if (type.startsWith('$.')) continue;
    else if (value !== undefined) props[name] = exportValue(exporting, type, value);
    else if (secret === true && optional !== true && fallback === undefined)
      props[name] = secretOf(exporting, owner, name);
  }
  return props;
}

function secretOf({ secrets }: Exporting, owner: string, name: string): Fields {
  const variable = `${owner}_${name}`
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_');
  secrets.push(variable);
  return { $env: variable };
}

function exportTimer(value: unknown): unknown {
  const { cron, interval_seconds: seconds, timezone } = (value ?? {}) as Fields;
  if (typeof cron !== 'string') return { intervalSeconds: seconds };
  return { cron, ...(timezone === undefined ? {} : { timezone }) };
}

function exportValue(exporting: Exporting, type: string, value: unknown): unknown {
  const { names, account } = exporting;
  if (type === 'data_store' && typeof value === 'string' && names.has(value)) return { $data_store: names.get(value) };
  const { authProvisionId: id } = (value ?? {}) as Fields;
  if (type !== 'app' || typeof id !== 'string') return value;
  const name = account.connected.find((one) => one.id === id)?.name;
  const isUnique = account.connected.filter((one) => one.name === name).length === 1;
  return { $account: isUnique && typeof name === 'string' ? name : id };
}

async function exportWorkflows(exporting: Exporting): Promise<Fields> {
  const { account } = exporting;
  const workflows: Fields = {};
  for (const { id } of account.workflows) {
    const { name, active, triggers, steps, settings } = await account.workflow(id);
    const slug = nameOf(exporting, id);
    const exportedSteps: Fields[] = [];
    for (const { namespace, component_id: componentId, retries, on_error: onError, ...step } of steps) {
      const component = await account.component(componentId);
      const props = exportProps(exporting, `${slug}_${namespace}`, step.configurable_props, step.props);
      exportedSteps.push({
        namespace,
        component: await exportComponent(exporting, component, `steps/${slug}-${namespace}`),
        ...(Object.keys(props).length === 0 ? {} : { props }),
        ...(retries === null ? {} : { retries }),
        ...(onError === 'fail' ? {} : { on_error: onError }),
      });
    }
    workflows[slug] = {
      ...(name === slug ? {} : { name }),
      triggers: triggers.map((trigger) => exportTrigger(exporting, trigger)),
      steps: exportedSteps,
      settings,
      ...(active ? {} : { active: false }),
    };
  }
  return workflows;
}

const TRIGGER_FIELDS = ['type', 'custom_response', 'interval_seconds', 'cron', 'timezone'];

function exportTrigger(exporting: Exporting, trigger: Fields): Fields {
  const { source_id: source, event_name: channel } = trigger;
  if (typeof source !== 'string')
    return Object.fromEntries(Object.entries(trigger).filter(([name]) => TRIGGER_FIELDS.includes(name)));
  return { source: nameOf(exporting, source), ...(channel === '' ? {} : { event_name: channel }) };
}

/** Fields that answers show and that are no settings. */
const WEBHOOK_SETTINGS = [
  'description',
  'format',
  'signature',
  'method',
  'ca_certificate',
  'client_certificate',
  'retry_schedule_seconds',
  'disable_after_hours',
  'disable_failures_over_hours',
  'timeout_seconds',
  'ordering',
  'ordering_key',
  'rate_per_second',
  'max_in_flight',
  'adaptive_rate',
];
const DEFAULTS: Fields = { format: 'raw', signature: 'v1', method: 'POST', ordering: 'none', adaptive_rate: false };

async function exportWebhooks(exporting: Exporting): Promise<Fields> {
  const webhooks: Fields = {};
  for (const { id } of exporting.account.webhooks) {
    const webhook = await exporting.account.webhook(id);
    const key = nameOf(exporting, id);
    const settings = WEBHOOK_SETTINGS.map((name) => [name, webhook[name]] as const).filter(
      ([name, value]) => value !== null && value !== undefined && value !== DEFAULTS[name],
    );
    const headers = Object.keys((webhook['headers'] ?? {}) as Fields).map(
      (name) => [name, secretOf(exporting, key, name)] as const,
    );
    webhooks[key] = {
      ...identified(exporting, webhook),
      url: webhook.url,
      ...Object.fromEntries(settings),
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
      ...(webhook.client_certificate ? { client_key: secretOf(exporting, key, 'client_key') } : {}),
      ...exportAuth(exporting, key, webhook['auth'] as Fields | null),
      ...(await exportTransform(exporting, key, webhook.transform_id ?? null)),
      ...(webhook.active ? {} : { active: false }),
    };
  }
  return webhooks;
}

/** Its code goes beside that of the sources: the webhook names a saved version of it. */
async function exportTransform(exporting: Exporting, key: string, id: string | null): Promise<Fields> {
  if (id === null) return {};
  const component = await exporting.account.component(id);
  return { transform: await exportComponent(exporting, component, `transforms/${slugOfName(key) || 'webhook'}`) };
}

const AUTH_SECRETS: Readonly<Record<string, string>> = {
  basic: 'password',
  bearer: 'token',
  oauth2_client_credentials: 'client_secret',
};

function exportAuth(exporting: Exporting, key: string, auth: Fields | null): Fields {
  const secret = AUTH_SECRETS[String(auth?.['type'])];
  if (auth === null || secret === undefined) return {};
  return { auth: { ...auth, [secret]: secretOf(exporting, key, secret) } };
}

/** Without those that triggers of workflows have made. */
function exportSubscriptions(exporting: Exporting): Fields[] {
  const { subscriptions, workflows } = exporting.account;
  const isTrigger = (emitter: string, listener: string, channel: string) =>
    workflows
      .find(({ id }) => id === listener)
      ?.triggers.some(({ source_id: source, event_name: name = '' }) => source === emitter && name === channel) ===
    true;
  return subscriptions
    .filter((one) => !isTrigger(one.emitter_id, one.listener_id, one.event_name))
    .map((one) => ({
      from: endOf(exporting, one.emitter_id),
      to: endOf(exporting, one.listener_id),
      ...(one.event_name === '' ? {} : { channel: one.event_name }),
      ...(one.filter === null ? {} : { filter: one.filter }),
    }));
}

const PREFIXES: Readonly<Record<string, string>> = { dc: 'source', p: 'workflow', wh: 'webhook' };

/** With its kind where things of other kinds have the same name. */
function endOf({ account, names }: Exporting, id: string): string {
  const all = [...names.values()];
  // In another account it stands for that one.
  if (id === account.id) return all.includes(OWN_ACCOUNT) ? id : OWN_ACCOUNT;
  const name = names.get(id);
  if (name === undefined) return id;
  const isUnique = all.filter((other) => other === name).length === 1;
  return isUnique ? name : `${PREFIXES[id.split('_')[0] ?? ''] ?? 'source'}:${name}`;
}
