import { HeadwaterError } from '@headwater/shared';
import type { LimitsCache } from '../accounts/index.ts';
import type { ComponentRecord, Components, Registry, RegistryRecord } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import {
  publishToRegistry,
  readComponentOwner,
  readPublisher,
  withdrawFromRegistry,
} from './publish-to-registry.sql.ts';
import { readRegistryComponent } from './read-registry.sql.ts';
import { judgePublication, registryKeyOf } from './judge-publication.ts';
import { searchRegistry } from './search-registry.ts';

export interface RegistryOptions {
  sql: Sql;
  components: Pick<Components, 'get'>;
  limits: Pick<LimitsCache, 'get'>;
  /** Resolves once the components that come with the server are in the registry. */
  seeded: () => Promise<void>;
}

/** See the contract. */
export function createRegistry({ sql, components, limits, seeded }: RegistryOptions): Registry {
  async function publish(accountId: string, component: ComponentRecord, maxVersions?: number): Promise<RegistryRecord> {
    await seeded();
    const key = registryKeyOf(component);
    const { version, codeHash } = component;
    const room = maxVersions === undefined ? {} : { maxVersions };
    const publication = { ...key, version, codeHash, publisher: accountId, ...room };
    const candidate = { ...key, accountId, componentId: component.id };
    const id = await publishToRegistry(sql, candidate, (state) => judgePublication(publication, state));
    return find(id);
  }
  async function find(keyOrId: string, version?: string): Promise<RegistryRecord> {
    await seeded();
    const found = await findInRegistry(sql, keyOrId, version);
    if (found === undefined) throw notInRegistry(keyOrId, version);
    return found;
  }
  async function withdraw(
    keyOrId: string,
    version: string | undefined,
    isAllowed: (publisher: string | null) => boolean,
  ) {
    const found = await find(keyOrId, version);
    const publisher = await readPublisher(sql, found.id);
    if (publisher === undefined || !isAllowed(publisher)) {
      const message = `${found.key} in the registry was not published by this account`;
      throw new HeadwaterError('FORBIDDEN', message);
    }
    await withdrawFromRegistry(sql, found.id);
    return found;
  }
  return {
    async search(_who, request) {
      await seeded();
      return searchRegistry(sql, request);
    },
    get: (_who, keyOrId, version) => find(keyOrId, version),
    async publish(who, idOrKey) {
      const component = await components.get(who, idOrKey);
      const { maxRegistryVersions } = await limits.get(who.accountId);
      return publish(who.accountId, component, maxRegistryVersions);
    },
    async publishForOperator(componentId) {
      const accountId = componentId.includes('\0') ? undefined : await readComponentOwner(sql, componentId);
      if (accountId === undefined) throw new HeadwaterError('NOT_FOUND', `No saved component ${componentId}`);
      return publish(accountId, await components.get({ accountId, userId: '' }, componentId));
    },
    withdraw: (who, keyOrId, version) => withdraw(keyOrId, version, (publisher) => publisher === who.accountId),
    withdrawForOperator: (keyOrId, version) => withdraw(keyOrId, version, () => true),
  };
}

/** By id or key; undefined if it does not exist, or not in that version. */
export async function findInRegistry(sql: Sql, keyOrId: string, version?: string): Promise<RegistryRecord | undefined> {
  if (keyOrId.includes('\0') || version?.includes('\0')) return undefined;
  return readRegistryComponent(sql, keyOrId, version);
}

function notInRegistry(keyOrId: string, version: string | undefined): HeadwaterError {
  const which = version === undefined ? keyOrId : `${keyOrId} of version ${version}`;
  return new HeadwaterError('NOT_FOUND', `No component ${which} in the registry`);
}
