import { HeadwaterError, isStorableJson, type PropDefinition } from '@headwater/shared';
import type { PropOptions } from '../contract/props.ts';

/** What `options` answered: the sandbox's host has judged its shape and size. */
export function readOptions(json: string): PropOptions {
  return JSON.parse(json) as PropOptions;
}

/**
 * What `additionalProps` answered, judged likewise. Throws COMPONENT_ERROR for what no database can
 * hold.
 */
export function readDefinitions(json: string): PropDefinition[] {
  if (!isStorableJson(json)) {
    const message = 'additionalProps answers a NUL character or half of a surrogate pair, which cannot be stored';
    throw new HeadwaterError('COMPONENT_ERROR', message);
  }
  return JSON.parse(json) as PropDefinition[];
}
