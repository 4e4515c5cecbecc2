import type { KeyScope } from '@headwater/shared';

const PREFIX = 'resource:';

/**
 * As a key that reaches one resource has them in the database: nodes that know no such keys know
 * none of these scopes either, and refuse it everything.
 */
export function storedScopes(scopes: readonly KeyScope[], resource: string | undefined): string[] {
  return scopes.map((scope) => (resource === undefined ? scope : PREFIX + scope));
}

export function shownScopes(stored: readonly string[]): KeyScope[] {
  return stored.map((scope) => scope.replace(PREFIX, '') as KeyScope);
}
