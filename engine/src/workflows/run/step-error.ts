import type { RunFault } from '@headwater/sandbox-runtime';
import type { ExecutionError } from '../../contract/index.ts';
import { storableText } from '../../events/index.ts';

/** JSON text of an ExecutionError. */
export function stepErrorJson({ code, message, stack, limit }: RunFault, { namespace }: { namespace: string }): string {
  const error: ExecutionError = {
    code,
    message: storableText(message),
    ...(stack === undefined ? {} : { stack: storableText(stack) }),
    ...(limit === undefined ? {} : { limit }),
    namespace,
  };
  return JSON.stringify(error);
}
