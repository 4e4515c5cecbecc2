/** Ends the workflow unless a condition holds. */
const isEmpty = (value) =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const CONDITIONS = {
  equals: { label: 'is equal to', holds: (value, other) => String(value) === String(other) },
  'not-equals': { label: 'is not equal to', holds: (value, other) => String(value) !== String(other) },
  contains: { label: 'contains', holds: (value, other) => contains(value, other) },
  'not-contains': { label: 'does not contain', holds: (value, other) => !contains(value, other) },
  'starts-with': { label: 'starts with', holds: (value, other) => String(value).startsWith(String(other)) },
  'ends-with': { label: 'ends with', holds: (value, other) => String(value).endsWith(String(other)) },
  greater: { label: 'is greater than', holds: (value, other) => toNumber(value) > toNumber(other) },
  less: { label: 'is less than', holds: (value, other) => toNumber(value) < toNumber(other) },
  matches: {
    label: 'matches the regular expression',
    holds: (value, other) => new RegExp(other, 'u').test(String(value)),
  },
  empty: { label: 'is empty', holds: isEmpty },
  'not-empty': { label: 'is not empty', holds: (value) => !isEmpty(value) },
};

export default {
  name: 'Continue if',
  key: 'filter-continue-if',
  version: '0.1.0',
  type: 'action',
  description: 'Lets the workflow go on where a condition holds, and ends it where it does not.',
  props: {
    value: { type: 'any', label: 'Value', description: 'What is looked at.', optional: true },
    condition: {
      type: 'string',
      label: 'Condition',
      options: Object.entries(CONDITIONS).map(([value, { label }]) => ({ label, value })),
      default: 'equals',
      optional: true,
    },
    other: {
      type: 'any',
      label: 'Compared with',
      description: 'Not needed for `is empty` and `is not empty`.',
      optional: true,
    },
    reason: {
      type: 'string',
      label: 'Reason',
      description: 'Shown where the workflow ends here.',
      optional: true,
    },
  },
  run({ $ }) {
    const name = this.condition ?? 'equals';
    const condition = Object.hasOwn(CONDITIONS, name) ? CONDITIONS[name] : undefined;
    if (condition === undefined) throw new Error(`There is no condition ${name}`);
    if (!condition.holds(this.value, this.other)) {
      return $.flow.exit(this.reason || `It does not hold that the value ${condition.label} what it is compared with`);
    }
    $.export('$summary', 'The condition holds');
    return true;
  },
};

function contains(value, other) {
  if (Array.isArray(value)) return value.some((item) => String(item) === String(other));
  if (typeof value === 'object' && value !== null) return Object.hasOwn(value, String(other));
  return String(value ?? '').includes(String(other));
}

/**
 * Compared as numbers, and as moments where both are dates. Nothing is greater or less than what is
 * neither.
 */
function toNumber(value) {
  if (typeof value === 'string' && value.trim() !== '' && Number.isNaN(Number(value))) return Date.parse(value);
  return typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value ?? Number.NaN);
}
