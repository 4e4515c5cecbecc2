import { HeadwaterError } from '@headwater/shared';
import type { CodeUse, ComponentChoice, ComponentRecord, Components, Principal } from '../contract/index.ts';

export function namesComponent(input: ComponentChoice): boolean {
  const { componentId, componentKey, componentCode, componentUrl } = input;
  return (componentId ?? componentKey ?? componentCode ?? componentUrl) !== undefined;
}

const TYPES = { source: 'source', step: 'action' } as const;

const A = { source: 'a source', action: 'an action', transform: 'a transform' } as const;

const REFUSED = {
  source: 'only sources can be deployed',
  step: 'steps of workflows are actions',
} as const;

/**
 * The component to use: given code is saved first, an id or a key is looked up. Throws
 * INVALID_REQUEST, INVALID_COMPONENT, NOT_FOUND, and CONFLICT where the account has no room for the
 * code.
 */
export async function chooseComponent(
  components: Pick<Components, 'save' | 'obtain'>,
  who: Principal,
  input: ComponentChoice,
  use: CodeUse,
): Promise<ComponentRecord> {
  if (!namesComponent(input)) throw refused('Give component_id, component_key, component_code or component_url');
  const { componentCode, componentVersion } = input;
  const saved = componentCode === undefined ? (input.componentId ?? input.componentKey) : undefined;
  const component =
    saved === undefined
      ? await components.save(who, input, use)
      : await components.obtain(who, saved, componentVersion);
  if (component.type !== TYPES[use.of]) throw refused(`${component.id} is ${A[component.type]}; ${REFUSED[use.of]}`);
  return component;
}

function refused(message: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path: 'component_id', message }] });
}
