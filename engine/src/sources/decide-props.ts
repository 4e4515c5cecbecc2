import type { PropDefinition } from '@headwater/shared';
import type { Principal, SourceCreate } from '../contract.ts';
import type { PropForm } from '../contract-props.ts';
import type { Sql } from '../store/database.ts';
import type { SourceRow } from '../store/read-sources.ts';
import { requireDynamicProps } from './choose-dynamic-props.ts';
import { mergeDefinitions } from './merge-definitions.ts';
import { configureProps, type PropSealer } from './seal-props.ts';

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
  /** Runs `additionalProps` of a component for what a form holds. Throws as ComponentProps.dynamicProps does. */
  additionalProps: (who: Principal, componentId: string, form: PropForm) => Promise<PropDefinition[]>;
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
 * What a source is deployed or changed with: definitions first, then values under them. Dynamic definitions are those that the
 * caller names; else, where a prop with `reloadProps` is set or the code is new, the component is asked; else those that the
 * source has. Throws INVALID_PROPS, INVALID_REQUEST and what `additionalProps` ends with.
 */
export async function decideProps(
  context: DecideContext,
  who: Principal,
  owner: PropsOwner,
  input: Pick<SourceCreate, 'configuredProps' | 'dynamicPropsId'>,
  source?: SourceRow,
): Promise<DecidedProps> {
  const { sql } = context.db;
  const given = input.configuredProps ?? {};
  const dynamicProps =
    input.dynamicPropsId === undefined
      ? await findDynamicProps(context, who, owner, given, source)
      : await requireDynamicProps(sql, who.accountId, input.dynamicPropsId, owner);
  const definitions = mergeDefinitions(owner.configurableProps, dynamicProps);
  const stored = source?.configured_props ?? {};
  const scope = { sql, sealer: context.sealer };
  const configuredProps = await configureProps(scope, who.accountId, { definitions, given, stored });
  return { definitions, dynamicProps, configuredProps };
}

async function findDynamicProps(
  context: DecideContext,
  who: Principal,
  owner: PropsOwner,
  given: Readonly<Record<string, unknown>>,
  source: SourceRow | undefined,
): Promise<PropDefinition[]> {
  if (!owner.hasAdditionalProps) return [];
  const isNewCode = source?.component_id !== owner.id;
  const reloading = owner.configurableProps.filter((definition) => definition['reloadProps'] === true);
  const isSet = ({ name, default: value }: PropDefinition) =>
    (Object.hasOwn(given, name) ? given[name] : (source?.configured_props[name] ?? value)) !== undefined;
  const mustAsk = isNewCode ? reloading.some(isSet) : reloading.some(({ name }) => Object.hasOwn(given, name));
  if (!mustAsk) return source?.dynamic_props ?? [];
  const form = { configuredProps: given, ...(source === undefined ? {} : { sourceId: source.id }) };
  return context.additionalProps(who, owner.id, form);
}
