/** Parses a typed value by the type of its prop; `problem` if it does not fit. */
export function parseTyped(text: string, type: string): { value?: unknown; problem?: string } {
  if (type.endsWith('[]')) return parseList(text, type.slice(0, -2));
  switch (type) {
    case 'integer': {
      const value = Number(text);
      return text.trim() !== '' && Number.isInteger(value) ? { value } : { problem: 'A whole number, please' };
    }
    case 'number': {
      const value = Number(text);
      return text.trim() !== '' && Number.isFinite(value) ? { value } : { problem: 'A number, please' };
    }
    case 'boolean':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : { problem: 'true or false, please' };
    case 'object':
    case 'http_request':
      return parseObject(text);
    case 'any':
    case 'sql':
      return { value: parseJson(text) ?? text };
    default:
      return text === '' ? { problem: 'It needs a value' } : { value: text };
  }
}

/** `60` → each minute; anything else is a cron expression. */
export function parseTimer(text: string): { intervalSeconds: number } | { cron: string } {
  return /^\d+$/.test(text.trim()) ? { intervalSeconds: Number(text) } : { cron: text.trim() };
}

function parseList(text: string, type: string): { value?: unknown; problem?: string } {
  const given = parseJson(text);
  const items = Array.isArray(given) ? (given as unknown[]) : text.split(',').map((item) => item.trim());
  const values = items.map((item) => (typeof item === 'string' ? parseTyped(item, type) : { value: item }));
  const problem = values.find((value) => value.problem !== undefined)?.problem;
  return problem === undefined ? { value: values.map(({ value }) => value) } : { problem };
}

function parseObject(text: string): { value?: unknown; problem?: string } {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { value }
    : { problem: 'A JSON object, please, such as {"a": 1}' };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller decides what that means.
    return undefined;
  }
}
