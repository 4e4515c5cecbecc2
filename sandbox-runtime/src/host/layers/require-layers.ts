import { HeadwaterError } from '@headwater/shared';
import type { SandboxLayer } from '../../sandbox.ts';
import { listMissing } from './describe-layers.ts';

/** Throws where one of them is missing that the operator relies on. */
export function requireLayers(layers: readonly SandboxLayer[], required: readonly SandboxLayer['layer'][]): void {
  const missing = listMissing(layers.filter(({ layer }) => required.includes(layer)));
  if (missing === '') return;
  const message = `HEADWATER_SANDBOX_REQUIRE names layers of the operating system that sandbox processes do not have here: ${missing}. What each stops: docs/security.md`;
  throw new HeadwaterError('UNAVAILABLE', message);
}
