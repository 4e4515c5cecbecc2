import type { RunHost, RunOutcome } from '@headwater/sandbox-runtime';
import type { EmittedEvent } from '@headwater/shared';
import type { Redactor } from '../secrets/index.ts';

/**
 * Removes a run's secrets from stored or shown output: events and log lines. Responses, `fetch`
 * requests and `$.service.db` values stay as they are: a secret may be needed there.
 */
export function redactedRun(host: RunHost, redactor: Redactor | undefined): RunHost {
  if (redactor === undefined) return host;
  return {
    ...logsWithoutSecrets(host, redactor),
    emit: (event) => host.emit(eventWithoutSecrets(event, redactor)),
  };
}

/** Line by line, as they come: looked through together at the end, many would hold the thread. */
export function logsWithoutSecrets(host: RunHost, redactor: Redactor | undefined): RunHost {
  if (redactor === undefined) return host;
  return { ...host, log: (line) => host.log({ ...line, message: redactor.text(line.message) }) };
}

/**
 * The fault's text goes to the run's record, to `$errors`, to the user that deployed and to the
 * waiting client.
 */
export function outcomeWithoutSecrets(outcome: RunOutcome, redactor: Redactor | undefined): RunOutcome {
  if (redactor === undefined || outcome.ok) return outcome;
  const { fault } = outcome;
  const stack = fault.stack === undefined ? {} : { stack: redactor.text(fault.stack) };
  return { ...outcome, fault: { ...fault, message: redactor.text(fault.message), ...stack } };
}

function eventWithoutSecrets(event: EmittedEvent, redactor: Redactor): EmittedEvent {
  const { id, name, summary } = event;
  return {
    ...event,
    data: redactor.json(event.data),
    ...(typeof id === 'string' ? { id: idWithoutSecrets(id, redactor) } : {}),
    ...(name === undefined ? {} : { name: redactor.text(name) }),
    ...(summary === undefined ? {} : { summary: redactor.text(summary) }),
  };
}

/**
 * In a number, which `greatest` compares, nothing is looked for; one that is a secret as a whole
 * goes. A key in hexadecimal is no number.
 */
function idWithoutSecrets(id: string, redactor: Redactor): string {
  const clean = redactor.text(id);
  return isNumeric(id) && !IS_MARK.test(clean) ? id : clean;
}

const IS_MARK = /^\[secret:[^\]]*\]$/;
const isNumeric = (id: string) => /^[\d.+-]+$/.test(id) && Number.isFinite(Number(id));
