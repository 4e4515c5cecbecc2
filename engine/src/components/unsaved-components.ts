import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { notFound } from '@headwater/shared';
import type { ComponentRecord, Components } from '../contract-components.ts';
import type { NewComponent } from '../store/create-component.ts';
import type { ComponentFinder } from './components.ts';
import type { Saver } from './save-component.ts';

/** Components for a single use: code that is given is bundled and loaded as if it were saved, and the account gets no row. */
export interface UnsavedComponents extends Pick<Components, 'save' | 'obtain'> {
  /** Of one that was saved or obtained here before. */
  get(componentId: string): ComponentRecord;
  readBundle(componentId: string): Promise<ComponentBundle | undefined>;
}

export interface UnsavedComponentsOptions {
  components: Pick<Saver, 'prepare'> & ComponentFinder;
  readBundle: UnsavedComponents['readBundle'];
}

export function createUnsavedComponents({ components, readBundle }: UnsavedComponentsOptions): UnsavedComponents {
  const records = new Map<string, ComponentRecord>();
  const bundles = new Map<string, Promise<ComponentBundle | undefined>>();

  function keep(record: ComponentRecord): ComponentRecord {
    records.set(record.id, record);
    return record;
  }

  return {
    async save(who, choice, stepName) {
      const prepared = await components.prepare(who, choice, stepName);
      bundles.set(prepared.id, Promise.resolve(prepared.bundle));
      return keep(recordOf(prepared));
    },
    obtain: async (who, idOrKey, version) => records.get(idOrKey) ?? keep(await components.find(who, idOrKey, version)),
    get(componentId) {
      const record = records.get(componentId);
      if (record === undefined) throw notFound('component', componentId);
      return record;
    },
    readBundle(componentId) {
      const bundle = bundles.get(componentId) ?? readBundle(componentId);
      bundles.set(componentId, bundle);
      return bundle;
    },
  };
}

function recordOf(prepared: NewComponent): ComponentRecord {
  const { accountId: _, bundle: __, hooks: ___, bundleFormat: ____, ofStep: _____, props, builtAt, ...rest } = prepared;
  return { ...rest, configurableProps: props, createdAt: builtAt, updatedAt: builtAt };
}
