/** Emits an event at every tick of its timer, for whoever listens to it. */
export default {
  name: 'Schedule',
  key: 'schedule-timer',
  version: '0.1.0',
  type: 'source',
  description: 'Emits an event at an interval or by a cron expression, in a time zone of your choice.',
  // A tick that is run again after a crash has the same time, and is emitted once.
  dedupe: 'unique',
  props: {
    timer: {
      type: '$.interface.timer',
      label: 'Schedule',
      description: 'An interval in seconds, or a cron expression with a time zone.',
      default: { intervalSeconds: 3600 },
    },
    payload: {
      type: 'object',
      label: 'Payload',
      description: 'What every event carries as `payload`.',
      optional: true,
    },
  },
  run(event) {
    const seconds = event.timestamp ?? Math.floor(Date.now() / 1000);
    const time = new Date(seconds * 1000).toISOString();
    const tick = { timestamp: seconds, time, ...(event.cron ? { cron: event.cron, timezone: event.timezone } : {}) };
    this.$emit(
      {
        ...tick,
        ...(event.interval_seconds ? { interval_seconds: event.interval_seconds } : {}),
        payload: this.payload,
      },
      { id: seconds, summary: `Tick at ${time}`, ts: seconds * 1000 },
    );
  },
};
