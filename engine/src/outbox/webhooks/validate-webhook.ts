import { type Fault, type FieldError, platformLimit, WEBHOOK_FORMATS } from '@headwater/shared';
import {
  findCountFault,
  findTextFault,
  longHostFault,
  type SignatureScheme,
  throwFields,
  type WebhookUpdate,
} from '../../contract/index.ts';
import { isEgressRefused, longHostOf } from '../../egress/index.ts';
import { requestFaults } from './validate-request-settings.ts';
import { findScheduleFault, findSecretFault, findTimeoutFault, headerFaults } from './validate-webhook-request.ts';

/**
 * Throws INVALID_REQUEST with everything that is wrong with the fields given. Whether the address
 * of a name may be reached is not asked here but at every attempt: it changes with DNS. `checkUrl`
 * throws where no attempt at a URL would ever be made.
 */
export function validateWebhook(
  fields: WebhookUpdate & { secret?: string; signature?: SignatureScheme },
  checkUrl: (url: URL) => void = () => undefined,
): void {
  const errors: FieldError[] = [];
  const check = (path: string, fault: Fault | undefined) => {
    if (fault !== undefined) errors.push({ path, ...fault });
  };
  if (fields.url !== undefined) check('url', findUrlFault(fields.url, checkUrl));
  check('name', findTextFault(fields.name, 'maxNameChars'));
  check('description', findTextFault(fields.description, 'maxDescriptionChars'));
  if (fields.format !== undefined && !WEBHOOK_FORMATS.includes(fields.format))
    check('format', { message: `must be one of ${WEBHOOK_FORMATS.join(', ')}` });
  for (const [path, fault] of requestFaults(fields, (url) => findUrlFault(url, checkUrl))) check(path, fault);
  check('secret', findSecretFault(fields.secret, fields.signature));
  for (const [name, fault] of headerFaults(fields.headers ?? {}))
    check(name === '' ? 'headers' : `headers.${name}`, fault);
  check('retry_schedule_seconds', findScheduleFault(fields.retryScheduleSeconds));
  const { disableAfterHours: hours, disableFailuresOverHours: over } = fields;
  check('disable_after_hours', findCountFault(hours, 0, platformLimit('maxDisableAfterHours', hours ?? 0)));
  check(
    'disable_failures_over_hours',
    findCountFault(over, 0, platformLimit('maxDisableFailuresOverHours', over ?? 0)),
  );
  check('ordering', findOrderingFault(fields));
  check('ordering_key', findPathFault(fields.orderingKey));
  const { ratePerSecond: rate, maxInFlight } = fields;
  check('rate_per_second', findCountFault(rate, 1, platformLimit('maxWebhookRatePerSecond', rate ?? 1)));
  check('max_in_flight', findCountFault(maxInFlight, 1, platformLimit('maxWebhookInFlight', maxInFlight ?? 1)));
  check('drain_per_second', findDrainFault(fields));
  check('timeout_seconds', findTimeoutFault(fields.timeoutSeconds));
  throwFields(errors);
}

function findOrderingFault({ ordering, orderingKey }: WebhookUpdate): Fault | undefined {
  if (ordering !== undefined && ordering !== 'none' && ordering !== 'fifo') return { message: 'must be none or fifo' };
  const isOfNone = ordering === 'none' && orderingKey !== undefined && orderingKey !== null;
  return isOfNone ? { message: 'must be fifo where an ordering_key is given' } : undefined;
}

function findPathFault(path: string | null | undefined): Fault | undefined {
  if (path === null || path === undefined) return undefined;
  if (path.split('.').includes('')) return { message: 'must be a path in the event such as order.id' };
  return findTextFault(path, 'maxNameChars');
}

function findDrainFault({ active, drainPerSecond }: WebhookUpdate): Fault | undefined {
  if (drainPerSecond === undefined) return undefined;
  if (active !== true) return { message: 'goes with active: true, which starts the webhook' };
  return findCountFault(drainPerSecond, 1, platformLimit('maxDrainPerSecond', drainPerSecond ?? 1));
}

function findUrlFault(text: string, checkUrl: (url: URL) => void): Fault | undefined {
  const fault = findTextFault(text, 'maxUrlChars');
  if (fault !== undefined) return fault;
  // Before it is read, which takes the thread; and each delivery would be tried in vain.
  const longHost = longHostOf(text);
  if (longHost !== undefined) return longHostFault(longHost);
  const message = findUrlMistake(text);
  if (message !== undefined) return { message };
  try {
    checkUrl(new URL(text));
    return undefined;
  } catch (error) {
    if (isEgressRefused(error)) return { message: `is not reached from here: ${error.message}` };
    throw error;
  }
}

function findUrlMistake(text: string): string | undefined {
  if (text.trim() === '') return 'is required: the http or https address that receives the events';
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    return 'must be an absolute http or https URL with a host';
  }
  // They would be shown wherever the URL is; what proves the sender is the signature.
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  return undefined;
}
