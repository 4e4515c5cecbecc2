import { HeadwaterError, ID_PREFIXES, notFound } from '@headwater/shared';
import type { ComponentRecord, Components, Principal } from '../contract/index.ts';
import { copyFromRegistry, findCopy, findInRegistry } from '../registry/index.ts';
import {
  type ComponentUse,
  deleteComponent,
  listComponents,
  publishComponent,
  unpublishComponent,
} from './components.sql.ts';
import { readComponent } from './read-component.sql.ts';
import { createSaver, type SaveOptions, type Saver } from './save-component.ts';

export interface ComponentsOptions extends SaveOptions {
  /** Resolves once the components that come with the server are in the registry. */
  seeded: () => Promise<void>;
}

export interface ComponentFinder {
  /**
   * As Components.obtain, without a copy: a component of the registry is returned as it is there.
   */
  find(who: Principal, idOrKey: string, version?: string): Promise<ComponentRecord>;
}

/** The components of accounts: see the contract. */
export function createComponents(options: ComponentsOptions): Components & Saver & ComponentFinder {
  const { db, room } = options;
  const { sql } = db;
  async function own(who: Principal, idOrKey: string, version?: string): Promise<ComponentRecord> {
    const found = await readComponent(db, who.accountId, idOrKey, version);
    if (found === undefined) throw unknown(idOrKey, version);
    return found;
  }
  async function find(who: Principal, idOrKey: string, version?: string) {
    // With its code and all of its props: a hundred deployments at once would read it with all of
    // the node's connections.
    const found = await room.make(who.accountId, () => readComponent(db, who.accountId, idOrKey, version));
    if (found !== undefined) return { component: found, isOwn: true };
    await options.seeded();
    const shared = await findInRegistry(sql, idOrKey, version);
    if (shared === undefined) throw unknown(idOrKey, version);
    return { component: shared, isOwn: false };
  }
  return {
    ...createSaver(options),
    async get(who, idOrKey, version) {
      const found = await readComponent(db, who.accountId, idOrKey, version);
      const shared = found ?? (isId(idOrKey) ? await findInRegistry(sql, idOrKey, version) : undefined);
      if (shared === undefined) throw unknown(idOrKey, version);
      return shared;
    },
    find: async (who, idOrKey, version) => (await find(who, idOrKey, version)).component,
    async obtain(who, idOrKey, version) {
      const { component, isOwn } = await find(who, idOrKey, version);
      if (isOwn) return component;
      const copyId = await copyOnce(options, who.accountId, component.id);
      if (copyId === undefined) throw unknown(idOrKey, version);
      return own(who, copyId);
    },
    list: (who, request) => listComponents(db, who.accountId, request),
    async delete(who, idOrKey, version) {
      const { id } = await own(who, idOrKey, version);
      const users = usersOf(await deleteComponent(sql, who.accountId, id));
      if (users !== undefined) throw new HeadwaterError('CONFLICT', `Component ${id} cannot be deleted: ${users}`);
    },
    async publish(who, idOrKey) {
      const { id, key, version } = await own(who, idOrKey);
      if (key === undefined) throw refused('key', `Component ${id} has no key, and only keys are published`);
      const outcome = await publishComponent(sql, who.accountId, id);
      if (outcome.kind === 'published') return own(who, outcome.id);
      if (outcome.kind === 'absent') throw refused('id', `Component ${id} is a copy from the registry, or gone`);
      const message = [
        `Version ${version} of ${key} is published with other code, and a version never changes: give it another one.`,
        'A component that was published as one file (hw publish) counts as other code than with its files (hw registry import):',
        `if it is the same, leave it as it is, or take it back first (hw unpublish ${key}@${version})`,
      ].join(' ');
      throw new HeadwaterError('CONFLICT', message, { fields: [{ path: 'version', message }] });
    },
    async unpublish(who, idOrKey, version) {
      const { id } = await own(who, idOrKey, version);
      await unpublishComponent(sql, who.accountId, id);
      return own(who, id);
    },
  };
}

/** Undefined where the version is gone by now. */
async function copyOnce({ db, room }: SaveOptions, accountId: string, registryId: string): Promise<string | undefined> {
  const known = await findCopy(db.sql, accountId, registryId);
  return known ?? room.make(accountId, (limits) => copyFromRegistry(db.sql, accountId, registryId, limits));
}

function usersOf({ sources, workflows, webhooks }: ComponentUse): string | undefined {
  const users = [
    ...(sources === 0 ? [] : [sources === 1 ? 'a source' : `${sources} sources`]),
    ...(workflows === 0 ? [] : [workflows === 1 ? 'a workflow' : `${workflows} workflows`]),
    ...(webhooks === 0 ? [] : [webhooks === 1 ? 'a webhook' : `${webhooks} webhooks`]),
  ];
  if (users.length === 0) return undefined;
  return `${users.join(' and ')} ${sources + workflows + webhooks === 1 ? 'uses' : 'use'} it`;
}

const isId = (idOrKey: string) => idOrKey.startsWith(ID_PREFIXES.savedComponent);

function unknown(idOrKey: string, version?: string): HeadwaterError {
  return notFound('component', version === undefined ? idOrKey : `${idOrKey} of version ${version}`);
}

function refused(path: string, message: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path, message }] });
}
