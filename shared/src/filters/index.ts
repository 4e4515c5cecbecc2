export { isChannelPattern, matchesChannel } from './channel-pattern.ts';
export { explainFilter } from './explain-filter.ts';
export type { Filter, FilterJson, FilterMeter } from './filter.ts';
export { type FilterAnswer, matchFilter } from './match-filter.ts';
export { type FilterOutcome, parseFilter } from './parse-filter.ts';
