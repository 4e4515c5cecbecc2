import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import type { ComponentRecord, Components } from '../contract/index.ts';
import type { NewComponent } from './components.sql.ts';
import type { ComponentFinder } from './components.ts';
import type { Saver } from './save-component.ts';

/**
 * Components for a single use: code that is given is bundled and loaded as if it were saved, and
 * the account gets no row.
 */
export interface UnsavedComponents extends Pick<Components, 'save' | 'obtain'> {
  /** The component must have been saved or obtained here. Throws NOT_FOUND. */
  get(componentId: string): ComponentRecord;
  /** Undefined if the component was not saved here. */
  bundleOf(componentId: string): ComponentBundle | undefined;
  readBundle(componentId: string): Promise<ComponentBundle | undefined>;
}

export interface UnsavedComponentsOptions {
  components: Pick<Saver, 'prepare'> & ComponentFinder;
  readBundle: UnsavedComponents['readBundle'];
}

export function createUnsavedComponents({ components, readBundle }: UnsavedComponentsOptions): UnsavedComponents {
  const records = new Map<string, ComponentRecord>();
  const bundles = new Map<string, ComponentBundle>();
  let bytes = 0;

  function keep(record: ComponentRecord): ComponentRecord {
    records.set(record.id, record);
    return record;
  }

  return {
    async save(who, choice, use) {
      const prepared = await components.prepare(who, choice, use);
      bytes += Buffer.byteLength(prepared.bundle.code) + Buffer.byteLength(prepared.bundle.sourceMap);
      if (bytes > LIMITS.maxUnsavedBundleBytes) throw tooLarge();
      bundles.set(prepared.id, prepared.bundle);
      return keep(recordOf(prepared));
    },
    obtain: async (who, idOrKey, version) => records.get(idOrKey) ?? keep(await components.find(who, idOrKey, version)),
    get(componentId) {
      const record = records.get(componentId);
      if (record === undefined) throw notFound('component', componentId);
      return record;
    },
    bundleOf: (componentId) => bundles.get(componentId),
    readBundle: async (componentId) => bundles.get(componentId) ?? readBundle(componentId),
  };
}

function tooLarge(): HeadwaterError {
  const message = `The given code has more than ${LIMITS.maxUnsavedBundleBytes} bytes with its packages, the most of one test. Save some of its components first`;
  return new HeadwaterError('INVALID_COMPONENT', message, { fields: [{ path: 'component_code', message }] });
}

function recordOf(prepared: NewComponent): ComponentRecord {
  const { accountId: _, bundle: __, hooks: ___, bundleFormat: ____, ofStep: _____, props, builtAt, ...rest } = prepared;
  return { ...rest, configurableProps: props, createdAt: builtAt, updatedAt: builtAt };
}
