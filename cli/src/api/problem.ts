import type { HeadwaterProblem } from '@headwater/client/transport';
import { CliError, type ErrorField } from '../cli-error.ts';
import type { ExitName } from '../exit-codes.ts';

const COMPONENT_CODES = new Set([
  'INVALID_COMPONENT',
  'HOOK_FAILED',
  'CONFIGURATION_ERROR',
  'COMPONENT_ERROR',
  'CPU_LIMIT',
  'WALL_LIMIT',
  'MEMORY_LIMIT',
  'OUTPUT_LIMIT',
  'RESOURCE_LIMIT',
  'SANDBOX_CRASHED',
]);

/** `refusedHint`: what to do where the key is refused. */
export function problemError(refused: HeadwaterProblem, url: string, refusedHint?: string): CliError {
  const { status, code, problem } = refused;
  const hint = status === 401 ? (refusedHint ?? `Log in again: hw login --url ${url}`) : hintFor(refused, url);
  const message = problem.detail ?? problem.title ?? `${url} answered with status ${status}`;
  return new CliError(exitFor(status, code), message, {
    code,
    fields: readFields(problem.errors),
    ...(hint === undefined ? {} : { hint }),
    ...(status >= 500 && typeof problem.request_id === 'string' ? { requestId: problem.request_id } : {}),
  });
}

function exitFor(status: number, code: string): ExitName {
  if (COMPONENT_CODES.has(code)) return 'component';
  if (status === 401 || status === 403) return 'unauthorized';
  if (code === 'NOT_FOUND') return 'notFound';
  return status === 502 || status === 503 || status === 504 ? 'unreachable' : 'failure';
}

function hintFor({ status, code, problem }: HeadwaterProblem, url: string): string | undefined {
  if (status === 200 || (status === 404 && code !== 'NOT_FOUND'))
    return `Is ${url} a Headwater server, and as new as this hw?`;
  if (typeof problem.retry_after_seconds === 'number') return `Try again in ${problem.retry_after_seconds} s`;
  if (typeof problem.limit?.name === 'string') return `The limit is ${problem.limit.name}; the operator can raise it`;
  const [field] = readFields(problem.errors);
  if (code === 'INVALID_PROPS' && field?.path.startsWith('configured_props.') === true)
    return `Give another value: --prop ${field.path.split('.')[1]}=<value>`;
  if (code === 'NOT_FOUND') return `See what there is: ${isOfOperator(problem.detail) ? 'hw tenants list' : 'hw list'}`;
  if (code === 'INVALID_COMPONENT') return 'Mend the code and try again';
  if (code === 'HOOK_FAILED')
    return 'Mend the hook and try again. Nothing was changed, or the source is stopped: hw list shows it';
  if (status >= 500) return "The server's log has the reason";
  return undefined;
}

/** Only the operator names accounts. */
const isOfOperator = (detail = '') => detail.startsWith('There is no account ');

function readFields(errors: unknown): ErrorField[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((entry: unknown) => {
    const { path, message, file, line, column } = (entry ?? {}) as Partial<ErrorField>;
    if (typeof message !== 'string') return [];
    return {
      path: typeof path === 'string' ? path : '',
      message,
      ...(typeof file === 'string' ? { file } : {}),
      ...(typeof line === 'number' ? { line } : {}),
      ...(typeof column === 'number' ? { column } : {}),
    };
  });
}
