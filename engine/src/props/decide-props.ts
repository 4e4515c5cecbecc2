import { hasExpression, HeadwaterError, type PropDefinition } from '@headwater/shared';
import type { Principal, PropForm, SourceCreate } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { requireDynamicProps } from './choose-dynamic-props.ts';
import { mergeDefinitions } from './merge-definitions.ts';
import { configureProps, type ExpressionCheck, openStoredProps, type PropSealer } from './seal-props.ts';

/** The component of a source, as far as its props go. */
export interface PropsOwner {
  id: string;
  codeHash: string;
  /** Its own, without dynamic ones. */
  configurableProps: readonly PropDefinition[];
  hasAdditionalProps: boolean;
}

export interface DecideContext {
  db: { sql: Sql };
  sealer: PropSealer;
  /**
   * Runs a component's `additionalProps` for the values of a form. Throws as
   * ComponentProps.dynamicProps does.
   */
  additionalProps: (who: Principal, componentId: string, form: PropForm) => Promise<PropDefinition[]>;
}

/** The current configuration. */
export interface PropsBefore {
  /** Id of the source; absent for a step of a workflow. */
  id?: string;
  component_id: string;
  configured_props: Record<string, unknown>;
  dynamic_props: PropDefinition[];
}

export interface DecidedProps {
  /** All of them. */
  definitions: PropDefinition[];
  /** Those of `additionalProps` alone. */
  dynamicProps: PropDefinition[];
  /** Secrets are sealed in it. */
  configuredProps: Record<string, unknown>;
}

/**
 * Decides definitions, then values, to deploy or change a source or a step. Dynamic definitions are
 * those that the caller names. Otherwise the component is asked if a prop with `reloadProps` is set
 * or the code is new; else the earlier ones stay. `expressions`: for a step, whose values may
 * contain some. Throws INVALID_PROPS, INVALID_REQUEST and the errors of `additionalProps`.
 */
export async function decideProps(
  context: DecideContext,
  who: Principal,
  owner: PropsOwner,
  input: Pick<SourceCreate, 'configuredProps' | 'dynamicPropsId'>,
  before?: PropsBefore,
  expressions?: ExpressionCheck,
): Promise<DecidedProps> {
  const { sql } = context.db;
  const given = input.configuredProps ?? {};
  const asked = await askDynamicProps(context, who, owner, { input, given, before, isStep: expressions !== undefined });
  const { dynamicProps } = asked;
  const definitions = mergeDefinitions(owner.configurableProps, dynamicProps);
  const stored = before?.configured_props ?? {};
  const scope = { sql, sealer: context.sealer };
  const check = expressions === undefined ? {} : { expressions };
  // Actions that share their props with a source have interfaces; nothing comes of them.
  const isOfUse = ({ type }: PropDefinition) => expressions === undefined || !type.startsWith('$.interface.');
  const names = asked.refusal === undefined ? { known: definitions.map(({ name }) => name) } : {};
  const form = { definitions: definitions.filter(isOfUse), given, stored, ...names, ...check };
  const configuredProps = await configureProps(scope, who.accountId, form);
  if (asked.refusal !== undefined) throw asked.refusal;
  return { definitions, dynamicProps, configuredProps };
}

/**
 * `refusal`: why the component was not asked, which is that values are wrong. What else is wrong is
 * told with that, as far as it can be known without its answer.
 */
async function askDynamicProps(
  context: DecideContext,
  who: Principal,
  owner: PropsOwner,
  { input, ...asked }: AskedProps & { input: Pick<SourceCreate, 'dynamicPropsId'> },
): Promise<{ dynamicProps: PropDefinition[]; refusal?: HeadwaterError }> {
  const { dynamicPropsId: id } = input;
  if (id !== undefined) return { dynamicProps: await requireDynamicProps(context.db.sql, who.accountId, id, owner) };
  try {
    return { dynamicProps: await findDynamicProps(context, who, owner, asked) };
  } catch (error) {
    if (!(error instanceof HeadwaterError) || error.code !== 'INVALID_PROPS') throw error;
    return { dynamicProps: asked.before?.dynamic_props ?? [], refusal: error };
  }
}

interface AskedProps {
  given: Readonly<Record<string, unknown>>;
  before: PropsBefore | undefined;
  isStep: boolean;
}

async function findDynamicProps(
  context: DecideContext,
  who: Principal,
  owner: PropsOwner,
  asked: AskedProps,
): Promise<PropDefinition[]> {
  const { given, before } = asked;
  if (!owner.hasAdditionalProps) return [];
  const isNewCode = before?.component_id !== owner.id;
  const reloading = owner.configurableProps.filter((definition) => definition['reloadProps'] === true);
  const isSet = ({ name, default: value }: PropDefinition) =>
    (Object.hasOwn(given, name) ? given[name] : (before?.configured_props[name] ?? value)) !== undefined;
  const mustAsk = isNewCode ? reloading.some(isSet) : reloading.some(({ name }) => Object.hasOwn(given, name));
  if (!mustAsk) return before?.dynamic_props ?? [];
  return context.additionalProps(who, owner.id, formOf(context, who, asked));
}

/**
 * For a step, the form has all values except those with expressions, which are unknown before it
 * runs.
 */
function formOf({ sealer }: DecideContext, { accountId }: Principal, { given, before, isStep }: AskedProps): PropForm {
  if (!isStep) return { configuredProps: { ...given }, ...(before?.id === undefined ? {} : { sourceId: before.id }) };
  const all = { ...openStoredProps(sealer, accountId, before?.configured_props ?? {}), ...given };
  return { configuredProps: Object.fromEntries(Object.entries(all).filter(([, value]) => !hasExpression(value))) };
}
