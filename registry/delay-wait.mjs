/** Lets time pass before the next step. */
const MS = { milliseconds: 1, seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
const MAX_MS = 365 * MS.days;

export default {
  name: 'Wait',
  key: 'delay-wait',
  version: '0.1.0',
  type: 'action',
  description:
    'Suspends the workflow for a time, up to a year. It may be resumed or cancelled before by the URLs that it exports.',
  props: {
    duration: { type: 'integer', label: 'Duration', min: 1 },
    unit: { type: 'string', label: 'Unit', options: Object.keys(MS), optional: true, default: 'minutes' },
  },
  run({ $ }) {
    const unit = this.unit ?? 'minutes';
    if (!Object.hasOwn(MS, unit)) throw new Error(`${unit} is not a unit of time: ${Object.keys(MS).join(', ')}`);
    const ms = this.duration * MS[unit];
    if (!(ms > 0 && ms <= MAX_MS))
      throw new Error(`${this.duration} ${unit} is not between a millisecond and 365 days`);
    $.export('$summary', `Waits for ${this.duration} ${unit}`);
    return $.flow.delay(ms);
  },
};
