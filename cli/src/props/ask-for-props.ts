import type { ApiClient } from '../api/client.ts';
import type { App, Component, ComponentProp, Source } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import { askForValue } from './ask-for-value.ts';

export interface MissingProps {
  component: Component;
  /** The source that gets the component, where there is one. */
  source: Source | undefined;
  /** Answers to earlier questions. */
  answers: Readonly<Record<string, unknown>>;
  /** Values from --props and --prop, parsed by these definitions. */
  given(definitions: readonly ComponentProp[]): Promise<Record<string, unknown>>;
}

interface DynamicProps {
  dynamic_props: { id: string; configurable_props: ComponentProp[] };
}

/** Nothing is given for them, nor for interfaces and services but timers. */
const WITHOUT_VALUE = new Set(['alert', 'dir']);

/**
 * Asks for each prop that needs a value and has none, in order. A prop with `reloadProps` adds
 * more. If it cannot ask, throws with the options that are missing.
 */
export async function askForProps(context: CommandContext, api: ApiClient, missing: MissingProps) {
  const { component, source } = missing;
  const form = await createForm(api, missing);
  let isStale = component.has_additional_props && form.definitions().some((prop) => reloads(prop) && form.isSet(prop));
  for (;;) {
    const unanswered = await form.unanswered();
    const [prop] = unanswered;
    if (prop === undefined && !isStale) break;
    if (prop === undefined) {
      isStale = false;
      await form.reload();
      continue;
    }
    if (!context.ask.possible) throw missingOptions(component, unanswered);
    const filled = form.filled();
    const value = await askForValue(context, api, { component, prop, form: { ...filled, source_id: source?.id } });
    filled.configured_props[prop.name] = value;
    if (!reloads(prop) || !component.has_additional_props) continue;
    isStale = false;
    await form.reload();
  }
  const { configured_props: props, dynamic_props_id: dynamicPropsId } = form.filled();
  return { props, dynamicPropsId };
}

/** Holds the values so far, and the props that they lead to. */
async function createForm(api: ApiClient, { component, source, answers, given }: MissingProps) {
  const own = component.configurable_props ?? [];
  const filled: { configured_props: Record<string, unknown>; dynamic_props_id?: string } = {
    configured_props: { ...answers, ...(await given(own)) },
  };
  const apps = new Map<string, Promise<App | undefined>>();
  let definitions = own;

  const hasValue = ({ name }: ComponentProp) => Object.hasOwn(filled.configured_props, name) || isKept(source, name);

  async function isUnanswered(prop: ComponentProp): Promise<boolean> {
    if (!needsValue(prop) || hasValue(prop)) return false;
    const slug = prop['app'];
    if (prop.type !== 'app' || typeof slug !== 'string') return true;
    if (!apps.has(slug)) apps.set(slug, readApp(api, slug));
    const app = await apps.get(slug);
    // An app without authentication needs no account. For an unknown app, the server reports the
    // error.
    return app !== undefined && app.auth_type !== 'none';
  }

  return {
    definitions: () => definitions,
    filled: () => filled,
    isSet: (prop: ComponentProp) => hasValue(prop) || prop['default'] !== undefined,
    async unanswered(): Promise<ComponentProp[]> {
      const open = await Promise.all(definitions.map(isUnanswered));
      return definitions.filter((_, at) => open[at] === true);
    },
    /**
     * Loads the props that depend on the current values. One of the same name replaces the
     * component's own.
     */
    async reload(): Promise<void> {
      const body = { ...filled, source_id: source?.id };
      const { dynamic_props: more } = await api.send<DynamicProps>('POST', `/components/${component.id}/props`, body);
      filled.dynamic_props_id = more.id;
      definitions = [...new Map([...own, ...more.configurable_props].map((prop) => [prop.name, prop])).values()];
      Object.assign(filled.configured_props, await given(definitions));
    },
  };
}

const reloads = (prop: ComponentProp) => prop['reloadProps'] === true;

/** Secrets are in no answer: a source that needed one has it. */
function isKept(source: Source | undefined, name: string): boolean {
  if (source === undefined) return false;
  const before = source.configurable_props.find((prop) => prop.name === name);
  return Object.hasOwn(source.configured_props, name) || (before !== undefined && needsValue(before));
}

function needsValue(prop: ComponentProp): boolean {
  const { type, optional, hidden } = prop;
  if (optional === true || hidden === true || prop['disabled'] === true) return false;
  if (WITHOUT_VALUE.has(type) || (type.startsWith('$.') && type !== '$.interface.timer')) return false;
  return prop['default'] === undefined;
}

async function readApp(api: ApiClient, slug: string): Promise<App | undefined> {
  try {
    return await api.get<App>(`/apps/${encodeURIComponent(slug)}`);
  } catch (error) {
    if (error instanceof CliError && error.exit === 'notFound') return undefined;
    throw error;
  }
}

function missingOptions(component: Component, props: readonly ComponentProp[]): CliError {
  const options = props.map(({ name, type }) => `--prop ${name}=${exampleOf(name, type)}`).join(' ');
  const names = props.map(({ name }) => name).join(', ');
  return usageError(
    `${component.name} needs a value for the prop${props.length === 1 ? '' : 's'} ${names}`,
    `Give it: ${options}   or a file of values: --props <file>`,
  );
}

function exampleOf(name: string, type: string): string {
  if (type === 'app') return 'apn_…';
  return type === '$.interface.timer' ? '<seconds or cron>' : `<${name}>`;
}
