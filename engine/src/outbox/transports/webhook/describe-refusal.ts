import type { DeliveryErrorClass } from '../../../contract/index.ts';
import { isEgressRefused, type NameFault } from '../../../egress/index.ts';

/**
 * Ends of names that the networks of operators have for their own (RFC 6761, 6762, 8375, and by
 * custom).
 */
const PRIVATE_END =
  /(^|\.)(localhost|local|localdomain|internal|intranet|private|corp|home|lan|arpa|test|invalid|onion|cluster)$/i;

interface Refusal {
  error: string;
  errorClass: DeliveryErrorClass;
}

/**
 * Says of a public name whether there is no such name, or one that may not be reached. Undefined
 * where the words of the refusal stay: of a name in the operator's own network, its absence and its
 * presence look the same.
 */
export function describeRefusal(host: string, error: unknown): Refusal | undefined {
  const nameFault = isEgressRefused(error) ? error.nameFault : undefined;
  const name = host.replace(/:\d+$/, '').replace(/\.$/, '');
  if (nameFault === undefined || !name.includes('.') || PRIVATE_END.test(name)) return undefined;
  return REFUSALS[nameFault](name);
}

const REFUSALS: Record<NameFault, (name: string) => Refusal> = {
  unknown: (name) => ({
    error: `Name not found: ${name} has no address in DNS`,
    errorClass: 'connection',
  }),
  'not-looked-up': (name) => ({
    error: `Name not found: no name server gave an address of ${name}`,
    errorClass: 'connection',
  }),
  'not-allowed': (name) => ({
    error: `Address not allowed: ${name} leads to an address that is not public. The operator of this server can allow it with HEADWATER_EGRESS_ALLOW.`,
    errorClass: 'refused',
  }),
};
