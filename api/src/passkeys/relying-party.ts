import { isIP } from 'node:net';
import { HeadwaterError } from '@headwater/shared';

/** This server as browsers know it in passkeys: they hold for one name, and for it alone. */
export interface RelyingParty {
  /** `hw.example.com` */
  id: string;
  /** `https://hw.example.com` */
  origin: string;
}

/** Undefined where browsers make no passkeys: for addresses of numbers, and names without TLS. */
export function findRelyingParty(publicUrl: string): RelyingParty | undefined {
  const { protocol, hostname: id, origin } = new URL(publicUrl);
  const isLocal = id === 'localhost' || id.endsWith('.localhost');
  if (id.startsWith('[') || isIP(id) !== 0 || !(protocol === 'https:' || isLocal)) return undefined;
  return { id, origin };
}

/** Throws CONFLICT where there can be no passkeys. */
export function requireRelyingParty(publicUrl: string): RelyingParty {
  const party = findRelyingParty(publicUrl);
  if (party !== undefined) return party;
  throw new HeadwaterError(
    'CONFLICT',
    `Browsers make passkeys for a host name with https, or for localhost, and this server is ${new URL(publicUrl).origin}. Its operator sets HEADWATER_PUBLIC_URL.`,
  );
}
