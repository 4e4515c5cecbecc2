export { createComponentProps } from './configure-props.ts';
export { putEndpoints } from './create-source.sql.ts';
export { deleteLeftValues } from './delete-source.sql.ts';
export { type FiredTick, fireTimers, timerJob } from './fire-timers.sql.ts';
export { createChangeTurns } from './lifecycle.ts';
export { nameSlugOf } from './name-slug.ts';
export { dropTimers, putTimers } from './put-timers.sql.ts';
export { startChangeRecovery } from './recover-changes.ts';
export { createSources } from './sources.ts';
