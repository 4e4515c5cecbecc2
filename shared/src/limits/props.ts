import { defineLimits } from './define-limits.ts';

/** Props of components: their values, choices and forms, and the runs that answer those. */
// biome-ignore format: one limit a line
export const PROP_LIMITS = defineLimits({
  maxProps: { default: 500, unit: 'count', scope: 'component', why: 'props; those that `additionalProps` answers are counted apart' },
  maxPropDepth: { default: 24, unit: 'count', scope: 'component', why: 'how deep the definition of a prop is nested' },
  maxPropDefinitionValues: { default: 50_000, unit: 'count', scope: 'component', why: 'values in the definitions of all props, lists and objects among them' },
  maxPropOptionsDepth: { default: 32, unit: 'count', scope: 'component', why: 'how deep the options of a prop, or their context, are nested' },
  maxPropValueBytes: { default: 64 * 1024, unit: 'bytes', scope: 'source', why: 'the value of one configured prop, as JSON' },
  maxDynamicPropsBytes: { default: 256 * 1024, unit: 'bytes', scope: 'component', why: 'the answer of `additionalProps`, as JSON' },
  dynamicPropsMs: { default: 24 * 3600 * 1000, unit: 'ms', scope: 'component', why: 'how long that answer can be deployed with' },
  maxDynamicPropsPerAccount: { default: 200, unit: 'count', scope: 'account', why: 'answers of `additionalProps` that are kept; the oldest go first' },
  maxPropOptionsBytes: { default: 1024 * 1024, unit: 'bytes', scope: 'component', why: "the answer of a prop's `options`, as JSON" },
  maxPropRunsPerTenant: { default: 4, unit: 'count', scope: 'account', why: 'runs of `options` and `additionalProps` at once on one node' },
  propAnswerCharsPerSecond: { default: 1024 * 1024, unit: 'characters per second', scope: 'account', why: 'pace at which the rest of a larger answer uses up its turn' },
});
