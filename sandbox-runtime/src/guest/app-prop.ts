import { bindMembers, type Member } from './bind-methods.ts';

/** An app as the component imports it, read once for all runs. */
export interface LoadedApp {
  /** The object itself: props with a `propDefinition` name it. */
  app: object;
  slug: unknown;
  members: Member[];
}

/**
 * `this.<app>` of one run, and the `this` of the app's methods: the methods and `$auth`. Without an
 * account `$auth` is empty, so that reading a key of it answers undefined.
 */
export function makeAppProp(members: readonly Member[], auth: Record<string, unknown>): Record<string, unknown> {
  const instance: Record<string, unknown> = {};
  bindMembers(instance, members);
  instance['$auth'] = auth;
  return instance;
}
