import { HeadwaterError, isStorableJson, type PropDefinition } from '@headwater/shared';
import type { PropOptions } from '../contract/index.ts';

/** Parses the result of `options`; the sandbox host has checked its shape and size. */
export function readPropOptions(json: string): PropOptions {
  return JSON.parse(json) as PropOptions;
}

/**
 * Parses the result of `additionalProps`, checked likewise. Throws COMPONENT_ERROR for text that no
 * database can hold.
 */
export function readDefinitions(json: string): PropDefinition[] {
  if (!isStorableJson(json)) {
    const message = 'additionalProps answers a NUL character or half of a surrogate pair, which cannot be stored';
    throw new HeadwaterError('COMPONENT_ERROR', message);
  }
  return JSON.parse(json) as PropDefinition[];
}
