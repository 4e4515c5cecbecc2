import { HeadwaterError } from '@headwater/shared';
import type { SandboxLayer } from '../sandbox-types.ts';
import { createStarter } from '../starter/starter.ts';
import { findConfinement } from './confinement.ts';
import { listMissing } from './describe-layers.ts';
import type { ConfinementOptions } from './findings.ts';

/** Memory limit of the process that tests the layers. */
const TRIED_MB = 1_024;

/**
 * Throws where one of the layers is missing on this system that its operator relies on. Takes some
 * tenths of a second.
 */
export async function requireLayers(
  required: readonly SandboxLayer['layer'][],
  { controlGroup, log }: Pick<ConfinementOptions, 'controlGroup' | 'log'>,
): Promise<void> {
  if (required.length === 0) return;
  const starter = await createStarter();
  try {
    const { layers } = await findConfinement({
      starter: Promise.resolve(starter),
      maxRssMb: TRIED_MB,
      controlGroup,
      log,
    });
    const missing = listMissing(layers.filter(({ layer }) => required.includes(layer)));
    if (missing !== '') throw new HeadwaterError('UNAVAILABLE', messageOf(missing));
  } finally {
    await starter.stop();
  }
}

function messageOf(missing: string): string {
  return `HEADWATER_SANDBOX_REQUIRE names layers of the operating system that sandbox processes do not have here: ${missing}. What each stops: docs/security.md`;
}
