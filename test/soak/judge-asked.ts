import { type Promised, repeated } from './promised.ts';
import type { Outcome, SentRequest } from './records.ts';

/** The answer of a node in place of the component's: the run comes later. */
export const isKept = ({ detail }: SentRequest) => detail.startsWith('202 ');

/** A source that answers itself: each answer belongs to a run, and each run counts once. */
export function judgeAsked({ requests, tenants }: Outcome): Promised[] {
  const asked = requests.filter(({ to }) => to === 'asked');
  const sent = new Set(asked.map(({ request }) => request));
  const events = tenants.flatMap((tenant) => tenant.asked.map(({ data }) => JSON.parse(data) as { request: number }));
  const emitted = new Set(events.map(({ request }) => request));
  const accepted = asked.filter(({ answer }) => answer === 'accepted');
  const missing = accepted.filter(({ request }) => !emitted.has(request));
  const isOfAnother = ({ request, detail }: SentRequest) => detail !== `201 ${request}`;
  return [
    { name: 'own answers: their run is missing', broken: missing.filter((one) => !isKept(one)) },
    { name: 'own answers: 202, and the run never came', broken: missing.filter(isKept) },
    { name: 'own answers: requests emitted twice', broken: repeated(events, ({ request }) => request) },
    { name: 'own answers: events that nobody asked for', broken: events.filter(({ request }) => !sent.has(request)) },
    { name: 'own answers: of another request', broken: accepted.filter((one) => !isKept(one) && isOfAnother(one)) },
  ];
}
