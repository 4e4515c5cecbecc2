/** Code that the soak deploys in each account. */

/** A tenth of the runs takes some time, so that kills find them under way. */
const TAKE_TIME = 'if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));';

/** Emits so many events with ids of their own. */
export const ORDERS = `export default { name: 'Orders', version: '1', dedupe: 'unique', props: { http: '$.interface.http' },
  async run(event) {
    const { id, request, emits, takesMs } = event.body;
    ${TAKE_TIME}
    for (let at = 0; at < emits; at++) this.$emit({ id, request, at }, { id: id + '.' + at });
  } };`;

/** Without dedupe: emits what it is given, on the channels that it is given. */
export const NOTES = `export default { name: 'Notes', version: '1', props: { http: '$.interface.http' },
  async run(event) {
    const { notes, takesMs } = event.body;
    ${TAKE_TIME}
    for (const note of notes) this.$emit(note, note.channel === '' ? {} : { name: note.channel });
  } };`;

/** Answers its client itself, before it emits: kills find it between the two. */
export const ASKED = `export default { name: 'Asked', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run(event) {
    const { request, takesMs } = event.body;
    ${TAKE_TIME}
    this.http.respond({ status: 201, body: String(request) });
    ${TAKE_TIME}
    this.$emit({ request });
  } };`;

/** Emits numbers in the given order, which are their ids. */
export const numbersCode = (
  dedupe: 'greatest' | 'last',
) => `export default { name: 'Numbers', version: '1', dedupe: '${dedupe}', props: { http: '$.interface.http' },
  async run(event) {
    const { request, turn, numbers, takesMs } = event.body;
    ${TAKE_TIME}
    for (const number of numbers) this.$emit({ request, turn, number }, { id: number });
  } };`;

export const TIMER = `export default { name: 'Clock', version: '1', props: { timer: '$.interface.timer' },
  run(event) { this.$emit({ tick: event.timestamp, run: Math.random() }); } };`;

/** Steps of the workflow that does not wait, in their order. */
export const STEPS = ['reserve', 'charge', 'confirm'] as const;
/** Steps of the workflow that waits: for a time, to be run again, for a resume that never comes. */
export const WAITING_STEPS = ['begin', 'again', 'ask', 'end'] as const;
/** How often `again` runs. */
export const RUNS_OF_AGAIN = 3;

const WAITS: Readonly<Record<(typeof WAITING_STEPS)[number], string>> = {
  begin: '$.flow.delay(waitsMs);',
  again: `if ($.context.run.runs < ${RUNS_OF_AGAIN}) $.flow.rerun(waitsMs, null, ${RUNS_OF_AGAIN});`,
  ask: '$.flow.suspend(waitsMs);',
  end: '',
};

/**
 * `begunAtMs` tells a step that began after its successor from a request of an earlier attempt that
 * a frozen node sent late.
 */
const stepCode = (step: string, url: string, wait: string) => `export default {
  name: '${step}', version: '1', type: 'action',
  async run({ $, steps }) {
    const begunAtMs = Date.now();
    const { request, waitsMs } = steps.trigger.event.body;
    const call = { request, step: '${step}', execution: $.context.id, run: $.context.run.runs, begunAtMs };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch('${url}', { method: 'POST', headers, body: JSON.stringify(call) });
    if (answer.status !== 200) throw new Error('the receiver answered ' + answer.status);
    ${wait}
    return request;
  } };`;

export const stepsOf = (url: string) =>
  STEPS.map((step) => ({ namespace: step, component_code: stepCode(step, url, '') }));

export const waitingStepsOf = (url: string) =>
  WAITING_STEPS.map((step) => ({ namespace: step, component_code: stepCode(step, url, WAITS[step]) }));
