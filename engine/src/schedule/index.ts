export { timerCheck, timerOf } from './check-timer.ts';
export { DEFAULT_TIME_ZONE } from './next-cron.ts';
export { nextAfterMs, nextTickMs, type TimerSchedule } from './next-tick.ts';
