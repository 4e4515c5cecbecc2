import { HeadwaterError, LIMITS } from '@headwater/shared';
import type { ComponentRecord } from '../contract/index.ts';
import type { Step } from './deployment.ts';

/**
 * Remaining size of a new version. Each method throws INVALID_REQUEST with the limit once it is
 * exceeded.
 */
export interface VersionSize {
  /**
   * Adds the prop definitions of a step's component. Call it before they are used, because their
   * defaults become part of the step.
   */
  addDefinitions(component: Pick<ComponentRecord, 'id' | 'configurableProps'>): Promise<void>;
  addStep(step: Step): Promise<void>;
}

/**
 * Measures a version. A request of some kilobytes can make a hundred megabytes: a hundred steps
 * with a megabyte of defaults each. Each value is measured on its own, and `giveWay` yields between
 * them: measuring all at once would block the thread.
 */
export function measureVersion(giveWay: () => Promise<void>): VersionSize {
  const value = LIMITS.maxWorkflowVersionBytes;
  const ofComponents = new Map<string, number>();
  let used = 0;

  function add(bytes: number): void {
    used += bytes;
    if (used <= value) return;
    const message = `With it, the version has more than ${value} bytes: its steps as JSON, each with the definitions of its props`;
    throw new HeadwaterError('INVALID_REQUEST', message, { limit: { name: 'maxWorkflowVersionBytes', value, used } });
  }

  async function bytesOf(record: object): Promise<number> {
    let bytes = 0;
    for (const [key, item] of Object.entries(record)) {
      bytes += jsonBytes(key) + jsonBytes(item);
      await giveWay();
    }
    return bytes;
  }

  return {
    async addDefinitions({ id, configurableProps }) {
      const bytes = ofComponents.get(id) ?? (await bytesOf(configurableProps));
      ofComponents.set(id, bytes);
      add(bytes);
    },
    async addStep({ configuredProps, dynamicProps, ...others }) {
      add(jsonBytes(others));
      add(await bytesOf(configuredProps));
      add(await bytesOf(dynamicProps));
    },
  };
}

/** Without the few characters around and between values. */
function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
