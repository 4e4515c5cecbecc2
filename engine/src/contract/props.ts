import type { PropDefinition } from '@headwater/shared';
import type { Principal } from './base.ts';

/** Current input of a form about a component. */
export interface PropForm {
  /** Values by name; missing ones are no error. */
  configuredProps?: Record<string, unknown>;
  /** Definitions that `dynamicProps` has answered: they count as the component's own. */
  dynamicPropsId?: string;
  /**
   * Source whose configured props, secrets included, fill the gaps of the form. Null in the form
   * removes a value.
   */
  sourceId?: string;
}

interface OptionsRequest extends PropForm {
  propName: string;
  /** From 0. Default 0. */
  page?: number;
  /** `context` of the answer before. */
  prevContext?: unknown;
  query?: string;
}

export interface PropOptions {
  options: { label: string; value: unknown }[];
  /** For the next request; absent where the component gave none. */
  context?: unknown;
}

export interface DynamicProps {
  /** `dyp_…`: names the definitions when a source is deployed, for LIMITS.dynamicPropsMs. */
  id: string;
  /** Those of `additionalProps` alone. */
  configurableProps: PropDefinition[];
}

/**
 * Runs a component's code about its own props, in its account's sandbox, as a hook runs. Throws
 * NOT_FOUND, INVALID_REQUEST, and INVALID_PROPS with all faults of the given values. An error of
 * the component's code is CONFIGURATION_ERROR, COMPONENT_ERROR or a limit.
 */
export interface ComponentProps {
  /** The choices for one prop. Nothing is emitted or stored. */
  options(who: Principal, idOrKey: string, request: OptionsRequest): Promise<PropOptions>;
  /** Runs `additionalProps` with the values. Each result is stored under its own id. */
  dynamicProps(who: Principal, idOrKey: string, form: PropForm): Promise<DynamicProps>;
}
