import type { Sandbox } from '@headwater/sandbox-runtime';
import { HeadwaterError, LIMITS, notFound, type PropDefinition } from '@headwater/shared';
import type { ComponentProps, ComponentRecord, Components, Principal, PropForm } from '../contract/index.ts';
import {
  configureProps,
  type DecideContext,
  insertDynamicProps,
  mergeDefinitions,
  openProps,
  type PropContext,
  requireDynamicProps,
  requireKnownProps,
  secretsIn,
} from '../props/index.ts';
import { readSource, type SourceRow } from './read-sources.sql.ts';
import { type ConfigureRun, type ConfigureRunParts, createConfigureRuns } from './configure-run.ts';
import { readDefinitions, readPropOptions } from '../components/index.ts';

export interface ComponentPropsOptions extends PropContext, Omit<ConfigureRunParts, 'sandbox'> {
  sandbox: Pick<Sandbox, 'run'>;
  components: Pick<Components, 'obtain'>;
}

interface Form {
  component: ComponentRecord;
  definitions: PropDefinition[];
  /** Input of a run that asks the component about its props. */
  run: Omit<ConfigureRun, 'entry' | 'what'>;
}

/** See the contract. Also runs `additionalProps` for a caller that deploys without asking first. */
export function createComponentProps(
  options: ComponentPropsOptions,
): ComponentProps & Pick<DecideContext, 'additionalProps'> {
  const { sql } = options;
  const run = createConfigureRuns(options);

  async function askFor(form: Form): Promise<PropDefinition[]> {
    const previousPropDefs = JSON.stringify(byName(form.definitions));
    const entry = { kind: 'additional-props' as const, previousPropDefs };
    return readDefinitions(await run({ ...form.run, entry, what: 'additionalProps' }));
  }

  return {
    async options(who, idOrKey, request) {
      const form = await readForm(options, who, idOrKey, request, knownNames);
      const { propName: prop, page = 0, prevContext, query } = request;
      checkHasOptions(form, prop);
      const entry = {
        kind: 'options' as const,
        prop,
        page,
        ...(prevContext === undefined ? {} : { prevContext }),
        ...(query === undefined ? {} : { query }),
      };
      return readPropOptions(await run({ ...form.run, entry, what: `The options of the prop ${prop}` }));
    },
    async dynamicProps(who, idOrKey, given) {
      const form = await readForm(options, who, idOrKey, given);
      const { component } = form;
      if (!component.hasAdditionalProps)
        throw new HeadwaterError('INVALID_REQUEST', `The component ${component.id} has no method additionalProps`);
      const configurableProps = await askFor(form);
      requireKnownProps(given.configuredProps ?? {}, namesOf([...form.definitions, ...configurableProps]));
      return { id: await insertDynamicProps(sql, who.accountId, component.id, configurableProps), configurableProps };
    },
    additionalProps: async (who, componentId, form) => askFor(await readForm(options, who, componentId, form)),
  };
}

async function readForm(
  context: ComponentPropsOptions,
  who: Principal,
  idOrKey: string,
  form: PropForm,
  /** Which names may be given. Default: they are judged later, or not at all. */
  knownOf?: (
    component: ComponentRecord,
    form: PropForm,
    definitions: readonly PropDefinition[],
  ) => string[] | undefined,
): Promise<Form> {
  const { configuredProps = {}, dynamicPropsId, sourceId } = form;
  const { sql, sealer } = context;
  const component = await context.components.obtain(who, idOrKey);
  const source = sourceId === undefined ? undefined : await requireSource(context, who, sourceId);
  const dynamic =
    dynamicPropsId === undefined
      ? (source?.dynamic_props ?? [])
      : await requireDynamicProps(sql, who.accountId, dynamicPropsId, component);
  const definitions = mergeDefinitions(component.configurableProps, dynamic);
  const configured = await configureProps(context, who.accountId, {
    definitions,
    given: configuredProps,
    stored: source?.configured_props ?? {},
    completeness: 'partial',
    known: knownOf?.(component, form, definitions),
  });
  const endpoints = source?.endpoints ?? {};
  const { props } = openProps(sealer, { accountId: who.accountId, definitions, configured, endpoints });
  const run = { accountId: who.accountId, component, props, secrets: secretsIn(configured, props) };
  return { component, definitions, run: { ...run, ...(sourceId === undefined ? {} : { sourceId }) } };
}

/**
 * Undefined if the request does not name the form's dynamic props: then unknown names may be
 * theirs.
 */
function knownNames(
  { hasAdditionalProps }: ComponentRecord,
  { dynamicPropsId, sourceId }: PropForm,
  definitions: readonly PropDefinition[],
): string[] | undefined {
  const isOpen = hasAdditionalProps && dynamicPropsId === undefined && sourceId === undefined;
  return isOpen ? undefined : namesOf(definitions);
}

const namesOf = (definitions: readonly PropDefinition[]) => definitions.map(({ name }) => name);

async function requireSource({ sql }: PropContext, who: Principal, id: string): Promise<SourceRow> {
  const row = id.includes('\0') ? undefined : await readSource(sql, who.accountId, id);
  if (row === undefined) throw notFound('source', id);
  return row;
}

function checkHasOptions({ component, definitions }: Form, propName: string): void {
  const definition = definitions.find(({ name }) => name === propName);
  const message =
    definition === undefined
      ? `${component.id} has no prop ${JSON.stringify(propName.slice(0, LIMITS.maxNameChars))}`
      : definition.options === undefined
        ? `The prop ${propName} has no options`
        : undefined;
  if (message !== undefined)
    throw new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path: 'prop_name', message }] });
}

/** As the component wrote them: an object by name. */
function byName(definitions: readonly PropDefinition[]): Record<string, unknown> {
  return Object.fromEntries(definitions.map(({ name, ...definition }) => [name, definition]));
}
